"""ExpertQA: long answers with sources, checked claim by claim by experts of the field.

Source: `chaitanyamalaviya/ExpertQA`, `data/lfqa/` (Malaviya et al., NAACL 2024). JSON Lines, one question a line;
`answers` has exactly one system with `answer_string`, `claims` and the expert's `revised_answer_string`, which
is the reference. Claims come in two schemas; both have `claim_string` and `correctness`.

Mapping: a response's points are its claims, each rated by `correctness`: Definitely correct 5, Probably correct
4, Likely incorrect 2, Definitely incorrect 1, Unsure and null = abstain. The value of an answer is the mean of its
claims. (Unsure as 3 is another reading; issue and paper III-F have it abstain.)

Counts: 219 + 217 answers, 2,529 claims, 252 of them Unsure or null; one answer has an empty revision, hence no
reference, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from faithfuse.datasets.ratings.base import Importer, Source, build, label, need, question_group, response, short_hash
from faithfuse.datasets.streams import iter_json_records
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References

FILES = ("rand_test.jsonl", "rand_val.jsonl")

_SHAPE = {"question": str, "annotator_id": str, "answers": dict, "metadata": {"field?": (str, None)}}
_ANSWER = {
    "answer_string": str,
    "claims": [{"claim_string": str, "correctness": object}],
    "revised_answer_string": (str, None),
    "attribution": [str],
}
_SCALE = {
    "Definitely correct": 5.0,
    "Probably correct": 4.0,
    "Unsure": None,
    "Likely incorrect": 2.0,
    "Definitely incorrect": 1.0,
    None: None,
}


def _read(source: Source) -> Iterator[Record]:
    for path in [source.require(name) for name in FILES]:
        for line, record in iter_json_records(path):
            need(record, _SHAPE, path, line)
            if len(record["answers"]) != 1:
                found = f"has answers of {len(record['answers'])} systems instead of one"
                raise InputError(found, path=path, line=line, fix="Get the original file again.")
            system, answer = next(iter(record["answers"].items()))
            need(answer, _ANSWER, path, line)
            reference = (answer["revised_answer_string"] or "").strip()
            if not reference:
                source.drop("item", "the expert's revision, which is the reference, is empty", path, line)
                continue
            if reference == answer["answer_string"].strip():
                source.note("answers that the expert left as they were (reference equals response)")
            item_id = f"expertqa:{short_hash(record['question'])}"
            yield build(
                Item,
                path,
                line,
                item_id=item_id,
                domain=Domain.LONG_FORM_QA,
                source_set="expertqa",
                question=record["question"],
                references=References(long=[reference]),
                group=question_group(record["question"]),
                provenance={
                    "file": path.name,
                    "line": line,
                    "field": record["metadata"].get("field"),
                    "attribution": answer["attribution"],
                },
            )
            points = [claim["claim_string"] for claim in answer["claims"]]
            yield response(path, line, item_id, system, answer["answer_string"], points=points)
            for place, claim in enumerate(answer["claims"]):
                likert = label(claim["correctness"], _SCALE, path, line, "correctness")
                yield build(
                    Rating,
                    path,
                    line,
                    item_id=item_id,
                    system=system,
                    annotator=record["annotator_id"],
                    point=place,
                    likert=likert,
                )


EXPERTQA = Importer(
    name="expertqa",
    title="ExpertQA",
    domain=Domain.LONG_FORM_QA,
    home="human/expertqa",
    url="https://github.com/chaitanyamalaviya/ExpertQA",
    licence="MIT",
    citation="Malaviya et al., ExpertQA: Expert-Curated Questions and Attributed Answers, NAACL 2024",
    scale="per claim: Definitely correct 5, Probably correct 4, Likely incorrect 2, Definitely incorrect 1; "
    "Unsure and null = abstain; an answer has the mean of its claims",
    read=_read,
    stratum=lambda item: str(item.provenance["field"]),
    reads=", ".join(FILES),
)
