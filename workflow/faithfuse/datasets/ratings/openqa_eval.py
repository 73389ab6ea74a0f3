"""OpenQA-eval NQ301: answers to 301 questions of NQ-open, each judged by two or three people.

Source: `ehsk/OpenQA-eval` (Kamalloo et al., ACL 2023). `NQ301_human.tsv` has one row per answer: `id`,
`Question`, `Model answer`, `Acceptable?` and `annotator1` to `annotator3`. Its cells are not quoted. The models
are not named; `answer01` is a question's first row. Gold answers are the lists in `model_outputs/`.

Mapping, per person: Yes = 5, No = 1. The third person was asked on disagreement, so an empty `annotator3` is no
rating; an empty `annotator1` or `annotator2` is an abstention.

Counts: 1,490 answers, 301 questions, `annotator2` empty 7 times, `annotator3` 1,267 times. The files that hold
a model's verdicts (`NQ301_gpt-4.tsv` and others) have the same column `Acceptable?`; they are not read. One
of them, `NQ301_text-davinci-003.tsv`, lacks the tab between question and answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, need, question_group, response
from faithfuse.datasets.streams import iter_table
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References, iter_json_lines

FILE = "NQ301_human.tsv"
GOLD = "model_outputs/NQ301_text-davinci-003_zeroshot.jsonl"
COLUMNS = ("id", "Question", "Model answer", "Acceptable?", "annotator1", "annotator2", "annotator3")

_SCALE = {"Yes": YES, "No": NO, "": None}


def _read(source: Source) -> Iterator[Record]:
    gold_path, path = source.require(GOLD), source.require(FILE)
    gold: dict[str, list[str]] = {}
    for line, record in iter_json_lines(gold_path):
        need(record, {"question": str, "answer": [str]}, gold_path, line)
        gold[record["question"]] = record["answer"]
    answers: Counter[str] = Counter()
    for line, row in iter_table(path, delimiter="\t", columns=COLUMNS, quoted=False):
        if not row["id"].isdecimal():
            found = f"id is {row['id']!r:.20}, not a number"
            raise InputError(found, path=path, line=line, fix="Get the original file again.")
        question, item_id = row["Question"], f"openqa_eval:{int(row['id']):03d}"
        if question not in gold:
            raise InputError(
                "asks a question that the gold answers do not have",
                path=path,
                line=line,
                record=item_id,
                fix=f"Use {GOLD} of the same release.",
            )
        answers[item_id] += 1
        if answers[item_id] == 1:
            yield build(
                Item,
                path,
                line,
                item_id=item_id,
                domain=Domain.SHORT_FORM_QA,
                source_set="openqa_eval",
                question=question,
                references=References(short=gold[question]),
                group=question_group(question),
                provenance={"file": path.name, "line": line},
            )
        system = f"answer{answers[item_id]:02d}"
        yield response(path, line, item_id, system, row["Model answer"])
        for annotator in ("annotator1", "annotator2", "annotator3"):
            likert = label(row[annotator], _SCALE, path, line, annotator)
            if likert is None and annotator == "annotator3":
                source.note("answers on which the third person was not asked")
                continue
            yield build(Rating, path, line, item_id=item_id, system=system, annotator=annotator, likert=likert)


OPENQA_EVAL = Importer(
    name="openqa_eval",
    title="OpenQA-eval, NQ301",
    domain=Domain.SHORT_FORM_QA,
    home="human/openqa_eval",
    url="https://github.com/ehsk/OpenQA-eval",
    licence="MIT",
    citation="Kamalloo et al., Evaluating Open-Domain Question Answering in the Era of Large Language Models, ACL 2023",
    scale="per person Yes = 5, No = 1; the third person was asked on disagreement only",
    read=_read,
    reads=f"{FILE}, {GOLD}",
)
