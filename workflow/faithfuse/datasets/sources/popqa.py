"""PopQA: questions made from fact tuples of Wikidata, with the filters of arXiv 2512.05700, section III-E.

`popQA.tsv`, 17 columns separated by tabs; lists are JSON inside quoted cells. A row with invalid UTF-8, or with
the replacement character U+FFFD that such bytes leave behind, is dropped. The ground truth merges
`possible_answers`, the object and its aliases into one list, each once. The fact tuple (subject, relation, object,
and their ids) is kept. The same question on other subjects of one name occurs; its group is the question.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from faithfuse.datasets.ratings.base import Source, build, question_group
from faithfuse.datasets.schema import Fact, QaRecord, SourceRecord, Subset
from faithfuse.datasets.sources.base import SourceSet, origin, some_files
from faithfuse.errors import InputError

LICENCE = "MIT"
COLUMNS = (
    "id",
    "subj",
    "prop",
    "obj",
    "subj_id",
    "prop_id",
    "obj_id",
    "s_aliases",
    "o_aliases",
    "s_uri",
    "o_uri",
    "s_wiki_title",
    "o_wiki_title",
    "s_pop",
    "o_pop",
    "question",
    "possible_answers",
)


def json_list(cell: str, path: Path, line: int, column: str) -> list[str]:
    """A cell that holds a JSON list of texts.

    Raises:
        InputError: it holds something else.
    """
    try:
        value = json.loads(cell)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise InputError(
            f"{column} is no JSON list of texts, found {cell!r:.60}",
            path=path,
            line=line,
            fix="Get the original file again.",
        )
    return value


def _rows(source: Source, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    header: list[str] = []
    with path.open("rb") as stream:
        for line, raw in enumerate(stream, start=1):
            try:
                text = raw.decode("utf-8-sig" if line == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                source.drop("row", "invalid UTF-8", path, line)
                continue
            if not text:
                continue
            if "\ufffd" in text:
                source.drop("row", "replacement character U+FFFD", path, line)
                continue
            cells = next(csv.reader([text], delimiter="\t"))
            if not header:
                header = cells
                missing = set(COLUMNS) - set(header)
                if missing:
                    found = f"has no column {', '.join(sorted(missing))}"
                    raise InputError(found, path=path, line=1, fix="Get the original file again.")
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"has {len(cells)} cells under {len(header)} columns",
                    path=path,
                    line=line,
                    fix="Get the original file again.",
                )
            yield line, dict(zip(header, cells, strict=True))


def _read(source: Source) -> Iterator[SourceRecord]:
    for path in some_files(source, "popQA.tsv", "popQA.rebuilt.tsv")[:1]:
        for line, row in _rows(source, path):
            answers = json_list(row["possible_answers"], path, line, "possible_answers")
            aliases = json_list(row["o_aliases"], path, line, "o_aliases")
            merged = list(dict.fromkeys(a.strip() for a in [*answers, row["obj"], *aliases] if a.strip()))
            yield build(
                QaRecord,
                path,
                line,
                record_id=f"popqa:{row['id']}",
                source_set="popqa",
                licence=LICENCE,
                group=question_group(row["question"]),
                origin=origin(source, path, line),
                question=row["question"],
                short_answers=merged,
                long_answers=[],
                fact=Fact(
                    subject=row["subj"],
                    relation=row["prop"],
                    object=row["obj"],
                    subject_id=row["subj_id"],
                    relation_id=row["prop_id"],
                    object_id=row["obj_id"],
                ),
            )


POPQA = SourceSet(
    name="popqa",
    title="PopQA",
    subset=Subset.QUESTION_ANSWERING,
    home="raw/popqa",
    url="https://github.com/AlexTMallen/adaptive-retrieval",
    licence=LICENCE,
    citation="Mallen et al., When Not to Trust Language Models, ACL 2023",
    read=_read,
    layout="popQA.tsv",
    untested="1,000 rows written back into the layout were at hand, and one original row",
)
