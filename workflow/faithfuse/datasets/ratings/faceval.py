"""FacEval: error types in summaries of 150 SAMSum dialogues by four systems and people.

Source: `BinWang28/FacEval`, `FacEval_human_result.csv` (Wang et al., 2022). One row per summary, six columns of
error types yes/no and `w/ Error`; dialogues are cells of several lines.

Mapping: Likert = max(1, 5 - number of error types). The set's own Bool (`w/ Error` is "no") is stricter than
Likert >= 3, which allows two error types. `human_ref` is the reference; its rows are left out and counted.

Counts: 750 rows, 150 dialogues, 294 summaries with an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from faithfuse.datasets.points import sentences, text_lines, turns
from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, response
from faithfuse.datasets.streams import iter_table
from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Record, References

FILE = "FacEval_human_result.csv"
REFERENCE = "human_ref"
ERRORS = ("SubObjE", "ProE", "NegE", "ParE", "HalE", "OtherE")

_SCALE = {"yes": YES, "no": NO}


def _read(source: Source) -> Iterator[Record]:
    path = source.require(FILE)
    columns = ("DocID", "Dialogue", "Model", "Summary", *ERRORS, "w/ Error")
    waiting: dict[str, int] = {}
    done: set[str] = set()
    for line, row in iter_table(path, delimiter=",", columns=columns):
        item_id, system = f"faceval:{row['DocID']}", row["Model"]
        kinds = sum(label(row[error], _SCALE, path, line, error) == YES for error in ERRORS)
        if (label(row["w/ Error"], _SCALE, path, line, "w/ Error") == YES) != (kinds > 0):
            raise InputError(
                f"w/ Error is {row['w/ Error']!r}, but {kinds} error types are marked",
                path=path,
                line=line,
                fix="Get the original file again.",
            )
        if system == REFERENCE:
            source.drop("response", "it is the reference summary", path, line)
            waiting.pop(item_id, None)
            done.add(item_id)
            yield build(
                Item,
                path,
                line,
                item_id=item_id,
                domain=Domain.SUMMARISATION,
                source_set="faceval",
                context=turns(text_lines(row["Dialogue"])),
                references=References(long=[row["Summary"]], points=sentences(row["Summary"])),
                group=f"samsum:{row['DocID']}",
                provenance={"file": path.name, "line": line, "samsum_id": row["DocID"]},
            )
            continue
        if item_id not in done:
            waiting.setdefault(item_id, line)
        yield response(path, line, item_id, system, row["Summary"], points=sentences(row["Summary"]))
        yield build(
            Rating,
            path,
            line,
            item_id=item_id,
            system=system,
            annotator="person",
            likert=float(max(1, 5 - kinds)),
        )
    for item_id, line in waiting.items():
        raise InputError(
            f"has no summary by {REFERENCE}", path=path, line=line, record=item_id, fix="Get the original file again."
        )


FACEVAL = Importer(
    name="faceval",
    title="FacEval",
    domain=Domain.SUMMARISATION,
    home="human/faceval",
    url="https://github.com/BinWang28/FacEval",
    licence="MIT; the dialogues are SAMSum's, CC BY-NC-ND 4.0",
    citation="Wang et al., Analyzing and Evaluating Faithfulness in Dialogue Summarization, EMNLP 2022",
    scale="max(1, 5 - number of error types); human_ref is the reference and not rated here",
    read=_read,
    reads=FILE,
)
