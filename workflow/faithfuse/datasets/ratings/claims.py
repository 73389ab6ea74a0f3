"""FacTool KBQA and Factcheck-GPT: ChatGPT's answers, their claims checked by people.

Sources: `GAIR-NLP/factool`, `knowledge_qa.jsonl` (Chern et al., 2023); `yuxiaw/Factcheck-GPT`,
`factcheck-GPT-benchmark.jsonl` (Wang et al., 2023).

Mapping: a response's points are its claims in order, each rated true = 5, false = 1; "unknown" and "NA" = abstain.
The value of an answer is the mean of its claims, 1 + 4 x the share of true ones. The label of the whole answer
stays in the item's provenance.

* FacTool: 50 answers, 233 claims, 56 false. It has no reference answers, so its items have none: they serve
  what needs no reference, and `faithfuse items` leaves them out.
* Factcheck-GPT: 94 answers, 311 sentences, 678 claims: 472 true, 159 false, 47 unknown. The reference is the
  people's `revised_response`, equal to the response where nothing was wrong (33 times). An answer without a claim
  has no rating. Its sentences are members `sentence1`, `sentence2`, … of an object; they are read by number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithfuse.datasets.ratings.base import (
    NO,
    YES,
    Importer,
    Source,
    build,
    label,
    need,
    question_group,
    response,
    short_hash,
)
from faithfuse.datasets.streams import iter_json_records
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References

SYSTEM = "chatgpt"

_FACTCHECK = {
    "prompt": str,
    "response": object,
    "revised_response": str,
    "response_factuality": object,
    "sentences": dict,
}
_SCALE = {True: YES, False: NO, "NA": None, "unknown": None}


def _records(
    set_name: str,
    path: Path,
    line: int,
    record: dict[str, Any],
    references: list[str],
    whole: Any,
    claims: list[tuple[str, Any]],
) -> Iterator[Record]:
    item_id = f"{set_name}:{short_hash(record['prompt'])}"
    yield build(
        Item,
        path,
        line,
        item_id=item_id,
        domain=Domain.LONG_FORM_QA,
        source_set=set_name,
        question=record["prompt"],
        references=References(long=references),
        group=question_group(record["prompt"]),
        provenance={"file": path.name, "line": line, "label": whole},
    )
    yield response(path, line, item_id, SYSTEM, record["response"], points=[claim for claim, _ in claims])
    for place, (_, value) in enumerate(claims):
        yield build(
            Rating,
            path,
            line,
            item_id=item_id,
            system=SYSTEM,
            annotator="person",
            point=place,
            likert=label(value, _SCALE, path, line, "a claim's label"),
        )


def _read_factool(source: Source) -> Iterator[Record]:
    path = source.require("knowledge_qa.jsonl")
    for line, record in iter_json_records(path):
        shape = {"prompt": str, "response": object, "claims": [{"claim": str, "label": object}], "label": object}
        need(record, shape, path, line)
        source.note("items without a reference answer")
        yield from _records(
            "factool_kbqa",
            path,
            line,
            record,
            [],
            record["label"],
            [(claim["claim"], claim["label"]) for claim in record["claims"]],
        )


def _sentences(record: dict[str, Any], path: Path, line: int) -> list[dict[str, Any]]:
    numbers = {}
    for name, sentence in record["sentences"].items():
        match = re.fullmatch(r"sentence(\d+)", name)
        if match is None:
            raise InputError(
                f"has a sentence named {name!r}, not sentence1, sentence2, …",
                path=path,
                line=line,
                fix="Get the original file again.",
            )
        numbers[int(match[1])] = need(sentence, {"claims": [str], "claims_factuality_label": list}, path, line)
    return [numbers[number] for number in sorted(numbers)]


def _read_factcheck(source: Source) -> Iterator[Record]:
    path = source.require("factcheck-GPT-benchmark.jsonl")
    for line, record in iter_json_records(path):
        need(record, _FACTCHECK, path, line)
        claims = []
        for sentence in _sentences(record, path, line):
            texts, labels = sentence["claims"], sentence["claims_factuality_label"]
            if len(texts) != len(labels):
                raise InputError(
                    f"has {len(texts)} claims and {len(labels)} labels in a sentence",
                    path=path,
                    line=line,
                    fix="Get the original file again.",
                )
            claims += zip(texts, labels, strict=True)
        if not claims:
            source.note("answers without a claim, hence without a rating")
        if record["revised_response"] == record["response"]:
            source.note("answers that needed no revision (reference equals response)")
        yield from _records(
            "factcheck_gpt",
            path,
            line,
            record,
            [record["revised_response"]],
            record["response_factuality"],
            claims,
        )


FACTOOL = Importer(
    name="factool_kbqa",
    title="FacTool, KBQA",
    domain=Domain.LONG_FORM_QA,
    home="human/factool_kbqa",
    url="https://github.com/GAIR-NLP/factool",
    licence="Apache-2.0",
    citation="Chern et al., FacTool: Factuality Detection in Generative AI, 2023",
    scale="per claim true = 5, false = 1; no reference answers",
    read=_read_factool,
    reads="knowledge_qa.jsonl",
)
FACTCHECK = Importer(
    name="factcheck_gpt",
    title="Factcheck-GPT",
    domain=Domain.LONG_FORM_QA,
    home="human/factcheck_gpt",
    url="https://github.com/yuxiaw/Factcheck-GPT",
    licence="Apache-2.0",
    citation="Wang et al., Factcheck-GPT: End-to-End Fine-Grained Document-Level Fact-Checking and Correction, 2023",
    scale='per claim true = 5, false = 1, "unknown" and "NA" = abstain; the revised answer is the reference',
    read=_read_factcheck,
    reads="factcheck-GPT-benchmark.jsonl",
)
