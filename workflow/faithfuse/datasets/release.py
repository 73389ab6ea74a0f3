"""The release: items joined with responses, graphs, metric values and ratings.

This is what the paper's data set carries (arXiv 2512.05700, section III-G). One row per item; its responses are nested,
and each has its points, ratings, metric values and the graphs of its sentences.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, Literal

from faithfuse.datasets.folder import whole_folder
from faithfuse.datasets.parquet import write_parquet
from faithfuse.datasets.ratings.base import write_card
from faithfuse.datasets.sources import SOURCES
from faithfuse.datasets.spool import Spool
from faithfuse.datasets.streams import iter_table
from faithfuse.errors import InputError
from faithfuse.records import (
    Domain,
    Graph,
    Item,
    Rating,
    Record,
    References,
    Response,
    Turn,
    atomic_write,
    read_records,
)


class ReleasedRating(Record):
    """One person's judgement of the response or of one of its points."""

    annotator: str
    point: int | None
    likert: float | None


class ReleasedMetric(Record):
    """A metric's value; null with the reason."""

    metric: str
    value: float | None
    reason: str | None


class ReleasedGraph(Record):
    """The AMR graph of one sentence of the response."""

    sentence: str
    parser: str
    penman: str | None
    reason: str | None


class ReleasedResponse(Record):
    """A response with everything known of it."""

    system: str
    origin: Literal["recorded", "generated"]
    text: str | None
    reason: str | None
    points: list[str]
    hit_token_limit: bool | None
    ratings: list[ReleasedRating]
    metrics: list[ReleasedMetric]
    graphs: list[ReleasedGraph]


class ReleasedItem(Record):
    """An item with its responses; `provenance` is JSON text."""

    item_id: str
    domain: Domain
    source_set: str
    question: str | None
    context: list[Turn]
    references: References
    reference_graphs: list[ReleasedGraph]
    group: str
    provenance: str
    responses: list[ReleasedResponse]

    def sort_key(self) -> tuple:
        return (self.item_id,)


_Key = tuple[str, str]


def _metric_values(paths: Sequence[Path], known: Container[_Key]) -> dict[_Key, list[ReleasedMetric]]:
    found: dict[_Key, list[ReleasedMetric]] = defaultdict(list)
    for path in paths:
        reasons: dict[tuple[str, str, str], str] = {}
        beside = path.with_name(path.name + ".unscored.csv")
        if beside.is_file():
            for _, row in iter_table(beside, delimiter=",", columns=("item_id", "system", "metric", "reason")):
                reasons[row["item_id"], row["system"], row["metric"]] = row["reason"]
        for line, row in iter_table(path, delimiter=",", columns=("item_id", "system")):
            key = (row["item_id"], row["system"])
            if key not in known:
                raise InputError(
                    "has metric values of a response that is not released",
                    path=path,
                    line=line,
                    record=" ".join(key),
                    fix="Name the file or folder of its responses.",
                )
            for name, cell in row.items():
                if name not in ("item_id", "system", "group"):
                    reason = None if cell else reasons.get((*key, name), "not recorded")
                    value = _number(cell, path, line, name) if cell else None
                    found[key].append(ReleasedMetric(metric=name, value=value, reason=reason))
    return found


def _number(cell: str, path: Path, line: int, name: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} is {cell!r:.40}, not a number", path=path, line=line, fix="See docs/pipeline.md.")
    return value


def _graphs(paths: Sequence[Path]) -> dict[str, list[ReleasedGraph]]:
    found: dict[str, list[ReleasedGraph]] = defaultdict(list)
    for path in paths:
        for graph in read_records(path, Graph):
            found[graph.sentence].append(
                ReleasedGraph(sentence=graph.sentence, parser=graph.parser, penman=graph.penman, reason=graph.reason)
            )
    return found


def _of_text(texts: Sequence[str], graphs: dict[str, list[ReleasedGraph]]) -> list[ReleasedGraph]:
    """The graphs of the sentences of some texts, as the parse stage cuts them."""
    from faithfuse.amr.sentences import split_sentences

    cut = dict.fromkeys(sentence for text in texts for sentence in split_sentences(text))
    return [graph for sentence in cut for graph in graphs.get(sentence, ())]


def release(
    folders: Sequence[Path],
    out: Path,
    *,
    responses: Sequence[Path] = (),
    graphs: Sequence[Path] = (),
    metrics: Sequence[Path] = (),
) -> dict[str, Any]:
    """Write `DOMAIN.jsonl`, `DOMAIN.parquet`, `README.md` and `card.json` to `out`.

    Args:
        folders: folders with `items.jsonl`, `responses.jsonl`, `ratings.jsonl`.
        out: the folder to write.
        responses: further responses to the same items (generated ones).
        graphs: graphs of the parse stage.
        metrics: metric tables.

    Returns:
        The card: counts per domain, licences, and the sets that may not be shared in adapted form.

    Raises:
        InputError: a file is broken, a response names an item that is not there or is there twice, or a rating or
            metric value is of a response that is not there.
    """
    items = [item for folder in folders for item in read_records(folder / "items.jsonl", Item)]
    answers: dict[str, list[Response]] = defaultdict(list)
    files = [folder / "responses.jsonl" for folder in folders] + list(responses)
    known = {item.item_id for item in items}
    owner: dict[_Key, Path] = {}
    for path in files:
        for response in read_records(path, Response):
            key = (response.item_id, response.system)
            if response.item_id not in known:
                raise InputError(
                    "answers an item that is not released", path=path, record=response.item_id, fix="Name its folder."
                )
            if key in owner:
                raise InputError(
                    f"is also in {owner[key]}", path=path, record=" ".join(key), fix="Name each response once."
                )
            owner[key] = path
            answers[response.item_id].append(response)
    rated: dict[_Key, list[ReleasedRating]] = defaultdict(list)
    for folder in folders:
        for rating in read_records(folder / "ratings.jsonl", Rating):
            key = (rating.item_id, rating.system)
            if key not in owner:
                raise InputError(
                    "rates a response that is not released",
                    path=folder / "ratings.jsonl",
                    record=" ".join(key),
                    fix="Name the file or folder of its responses.",
                )
            rated[key].append(ReleasedRating(annotator=rating.annotator, point=rating.point, likert=rating.likert))
    values, parsed = _metric_values(metrics, owner), _graphs(graphs)

    spools: dict[Domain, Spool] = {}
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        released = _item(item, answers[item.item_id], rated, values, parsed)
        spools.setdefault(item.domain, Spool(ReleasedItem)).add_new(released)
        count = counts.setdefault(
            str(item.domain), dict.fromkeys(("items", "responses", "ratings", "metric values"), 0)
        )
        count["items"] += 1
        count["responses"] += len(released.responses)
        count["ratings"] += sum(len(response.ratings) for response in released.responses)
        count["metric values"] += sum(
            metric.value is not None for response in released.responses for metric in response.metrics
        )
    card = _card(items, dict(sorted(counts.items())))
    with whole_folder(out) as new:
        for domain in sorted(spools):
            spools[domain].write(new / f"{domain}.jsonl")
            write_parquet(ReleasedItem, new / f"{domain}.jsonl", new / f"{domain}.parquet")
        with atomic_write(new / "README.md") as stream:
            stream.write(_readme(card))
        write_card(new / "card.json", card)
    return card


def _item(
    item: Item,
    answers: Sequence[Response],
    rated: dict[_Key, list[ReleasedRating]],
    values: dict[_Key, list[ReleasedMetric]],
    parsed: dict[str, list[ReleasedGraph]],
) -> ReleasedItem:
    responses = [
        ReleasedResponse(
            system=answer.system,
            origin=answer.origin,
            text=answer.text,
            reason=answer.reason,
            points=answer.points,
            hit_token_limit=answer.hit_token_limit,
            ratings=rated.get((item.item_id, answer.system), []),
            metrics=values.get((item.item_id, answer.system), []),
            graphs=_of_text(answer.points or [answer.text or ""], parsed),
        )
        for answer in sorted(answers, key=Response.sort_key)
    ]
    return ReleasedItem(
        item_id=item.item_id,
        domain=item.domain,
        source_set=item.source_set,
        question=item.question,
        context=item.context,
        references=item.references,
        reference_graphs=_of_text([*item.gold(), *item.references.points], parsed),
        group=item.group,
        provenance=json.dumps(item.provenance, ensure_ascii=False, sort_keys=True),
        responses=responses,
    )


def _licences() -> dict[str, tuple[str, bool]]:
    from faithfuse.datasets.ratings import IMPORTERS

    found = {name: (importer.licence, "-ND" in importer.licence) for name, importer in IMPORTERS.items()}
    found["faithfuse-sample"] = ("Apache-2.0, as faithfuse itself", False)
    found |= {name: (source.licence, source.no_derivatives) for name, source in SOURCES.items()}
    return found


def _card(items: Sequence[Item], counts: dict[str, dict[str, int]]) -> dict[str, Any]:
    licences = _licences()
    sets = sorted({item.source_set for item in items})
    return {
        "title": "faithfuse release",
        "domains": counts,
        "sets": {name: licences.get(name, ("not known to faithfuse: ask its maker", False))[0] for name in sets},
        "not_to_be_shared": [name for name in sets if licences.get(name, ("", False))[1]],
    }


def _readme(card: dict[str, Any]) -> str:
    configs = "\n".join(f"- config_name: {domain}\n  data_files: {domain}.parquet" for domain in card["domains"])
    rows = [
        f"| {domain} | " + " | ".join(f"{count:,}" for count in counts.values()) + " |"
        for domain, counts in card["domains"].items()
    ]
    licences = "\n".join(f"* {name}: {licence}" for name, licence in card["sets"].items())
    barred = (
        "**Do not share** this release as it is: the licence of "
        + ", ".join(card["not_to_be_shared"])
        + " forbids adapted material. Keep it for your own research, or leave those sets out.\n\n"
        if card["not_to_be_shared"]
        else ""
    )
    return (
        f"---\npretty_name: faithfuse release\nlanguage:\n- en\nlicense: other\nconfigs:\n{configs}\n---\n\n"
        "# faithfuse release\n\nItems with responses, graphs, metric values and ratings, one row per item, responses "
        "nested. An empty value has its reason beside it.\n\n"
        "| domain | items | responses | ratings | metric values |\n| --- | --- | --- | --- | --- |\n"
        + "\n".join(rows)
        + f"\n\n{barred}## Licences\n\n{licences}\n"
    )
