"""BEGIN, Wizard of Wikipedia: replies of four models in a chat, grounded in a sentence of knowledge.

Source: `google/BEGIN-dataset`, `wow/` (Dziri et al., TACL 2022). Tab-separated, not quoted, lines end in `\\r\\n`,
stray `"`; part of the text is lower-cased and tokenised.

Mapping: Fully attributable = 5, Not fully attributable = 1, Generic = abstain. There is no gold answer: what the
label measures is attribution to `knowledge`, so the knowledge is both the context and the reference.

Counts: 430 replies (dev) and 3,607 (test), 6 Generic. The same knowledge and message are one item, in both files
as well; the group is the sentence of knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator

from faithfuse.datasets.ratings.base import NO, YES, Importer, Source, build, label, response, short_hash
from faithfuse.datasets.streams import iter_table
from faithfuse.records import Domain, Item, Rating, Record, References, Turn

FILES = ("begin_dev_wow.tsv", "begin_test_wow.tsv")
COLUMNS = ("model_name", "data_source", "knowledge", "message", "response", "begin_label")

_SCALE = {"Fully attributable": YES, "Not fully attributable": NO, "Generic": None}


def _read(source: Source) -> Iterator[Record]:
    seen: set[str] = set()
    answered: set[tuple[str, str]] = set()
    for path in [source.require(name) for name in FILES]:
        for line, row in iter_table(path, delimiter="\t", columns=COLUMNS, quoted=False):
            item_id, system = f"begin_wow:{short_hash(row['knowledge'], row['message'])}", row["model_name"]
            likert = label(row["begin_label"], _SCALE, path, line, "begin_label")
            if (item_id, system) in answered:
                source.drop("response", "the model has a reply to the same message already", path, line)
                continue
            answered.add((item_id, system))
            if item_id not in seen:
                seen.add(item_id)
                yield build(
                    Item,
                    path,
                    line,
                    item_id=item_id,
                    domain=Domain.CONVERSATIONAL_QA,
                    source_set="begin_wow",
                    question=row["message"],
                    context=[Turn(speaker="Knowledge", text=row["knowledge"])],
                    references=References(long=[row["knowledge"]]),
                    group=f"begin_wow:{short_hash(row['knowledge'])}",
                    provenance={"file": path.name, "line": line, "reference": "the knowledge to be attributed to"},
                )
            yield response(path, line, item_id, system, row["response"])
            yield build(Rating, path, line, item_id=item_id, system=system, annotator="person", likert=likert)


BEGIN_WOW = Importer(
    name="begin_wow",
    title="BEGIN, Wizard of Wikipedia",
    domain=Domain.CONVERSATIONAL_QA,
    home="human/begin_wow",
    url="https://github.com/google/BEGIN-dataset",
    licence="CC BY 4.0",
    citation="Dziri et al., Evaluating Attribution in Dialogue Systems: The BEGIN Benchmark, TACL 2022",
    scale="Fully attributable = 5, Not fully attributable = 1, Generic = abstain; the knowledge is the reference",
    read=_read,
    reads=", ".join(FILES),
)
