"""Reading metric tables and human ratings, and what people say of a response as one number.

A metric table is a CSV with `item_id,system,group` and one column per metric (docs/pipeline.md); ratings are a CSV
or JSON Lines file of `item_id,system,annotator,point,likert`. Both are checked line by line.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from faithfuse.errors import InputError
from faithfuse.metrics.registry import metric_info
from faithfuse.records import Rating, read_records

KEY_COLUMNS = ("item_id", "system", "group")
POINT_COLUMNS = ("item_id", "system", "point")
RATING_COLUMNS = ("item_id", "system", "annotator", "point", "likert")
OTHER = "other"


@dataclass(frozen=True)
class MetricTable:
    """Metric values of responses; a missing value is NaN.

    Attributes:
        path: where the table was read.
        items, systems, groups: one string per row; rows of one group never part in a split.
        names: metric names, one per column of `values`.
        values: shape (rows, metrics).
        classes: a metric's class by its name (`other` where neither the table nor the registry knows it).
        extension: whether the papers' tables lack the metric, by name.
        signatures: a metric's signature by its name; metrics without one are left out.
        reasons: why values are missing, `{metric: {(item_id, system): reason}}`.
        domain: the domain that the table's `.meta.json` states, if it does.
    """

    path: Path
    items: list[str]
    systems: list[str]
    groups: list[str]
    names: list[str]
    values: np.ndarray
    classes: Mapping[str, str]
    extension: Mapping[str, bool]
    signatures: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    domain: str | None = None

    @property
    def keys(self) -> list[tuple[str, str]]:
        """`(item_id, system)` of every row."""
        return list(zip(self.items, self.systems, strict=True))

    def rows(self, index: np.ndarray | list[int]) -> MetricTable:
        """The table with the rows of `index` alone, in its order."""
        return replace(
            self,
            items=[self.items[i] for i in index],
            systems=[self.systems[i] for i in index],
            groups=[self.groups[i] for i in index],
            values=self.values[np.asarray(index, dtype=int)],
        )

    def columns(self, index: list[int]) -> MetricTable:
        """The table with the metrics of `index` alone, in its order."""
        return replace(self, names=[self.names[i] for i in index], values=self.values[:, index])


@dataclass(frozen=True)
class Human:
    """What people say of one response.

    Attributes:
        likert: 1–5: averaged over raters, then over a summary's points.
        faithful: 0–1: Bool (Likert ≥ 3) taken per rating, then averaged the same way (arXiv 2512.05700, V-C).
        by_rater: each rater's own (likert, faithful), averaged over the points that rater judged.
        ratings: how many judgements stand behind it, abstentions left out.
    """

    likert: float
    faithful: float
    by_rater: Mapping[str, tuple[float, float]]
    ratings: int


@dataclass(frozen=True)
class PointTable:
    """Metric values of a summary's single points; a missing value is NaN.

    Attributes:
        names: metric names, as the metric table calls their means.
        keys: `(item_id, system, point)` of every row.
        values: shape (rows, metrics).
    """

    names: list[str]
    keys: list[tuple[str, str, int]]
    values: np.ndarray


def digest(path: Path | str) -> str:
    """SHA-256 of a file, as hexadecimal."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def iter_csv(path: Path, required: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (one-based line number, row) of a CSV file with a header.

    Raises:
        InputError: the file is missing, is not UTF-8, lacks or repeats a column, or a row has another length.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, fix="Check the path and the permissions."
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8", path=path, line=line, fix="Save the file as UTF-8.") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(
                f"is not CSV ({error})", path=path, line=start, fix="Quote fields that hold quotes or line ends."
            ) from None
        if not row:
            continue
        if header is None:
            header = row
            missing = [name for name in required if name not in header]
            if missing:
                raise InputError(
                    f"lacks the column {', '.join(missing)} (found {', '.join(header)})",
                    path=path,
                    line=start,
                    fix=f"Give the file the columns {','.join(required)}.",
                )
            repeated = sorted({name for name in header if header.count(name) > 1})
            if repeated:
                raise InputError(
                    f"has the column {repeated[0]} more than once", path=path, line=start, fix="Rename one of them."
                )
            continue
        if len(row) != len(header):
            raise InputError(
                f"has {len(row)} fields under {len(header)} columns",
                path=path,
                line=start,
                fix="Write one field per column; leave a missing value empty.",
            )
        yield start, dict(zip(header, row, strict=True))
    if header is None:
        raise InputError("is empty", path=path, fix=f"Give the file the columns {','.join(required)}.")


def read_metrics(path: Path | str) -> MetricTable:
    """Read a metric table, its `.meta.json` and its `.unscored.csv` where they stand beside it.

    Raises:
        InputError: a column is missing, a value is no finite number, a response stands twice, or one item is in
            two groups.
    """
    path = Path(path)
    items, systems, groups, values = [], [], [], []
    seen: dict[tuple[str, str], int] = {}
    group_of: dict[str, tuple[str, int]] = {}
    names: list[str] = []
    for line, row in iter_csv(path, KEY_COLUMNS):
        names = names or [name for name in row if name not in KEY_COLUMNS]
        item, system, group = (row[name] for name in KEY_COLUMNS)
        for name in KEY_COLUMNS:
            if not row[name]:
                raise InputError(f"{name} is empty", path=path, line=line, fix="Give every row its three ids.")
        if (item, system) in seen:
            raise InputError(
                f"repeats the response of line {seen[item, system]}",
                path=path,
                line=line,
                record=f"{item} {system}",
                fix="Keep one row per item_id and system.",
            )
        seen[item, system] = line
        known, first = group_of.setdefault(item, (group, line))
        if known != group:
            raise InputError(
                f"is in group {group}, but in group {known} on line {first}",
                path=path,
                line=line,
                record=item,
                fix="Give an item one group: groups keep what belongs together on one side of a split.",
            )
        items.append(item)
        systems.append(system)
        groups.append(group)
        values.append([_number(row[name], name, path, line) for name in names])
    if not values:
        raise InputError("has no rows", path=path, fix="Compute metrics for at least one response.")
    if not names:
        raise InputError("has no metric", path=path, line=1, fix="Add one column per metric.")
    meta = _read_meta(path.with_name(path.name + ".meta.json"))
    classes, extension, signatures = {}, {}, {}
    for name in names:
        stated = meta.get("metrics", {}).get(name, {})
        try:
            known_class, known_extension = metric_info(name)[1:]
        except KeyError:
            known_class, known_extension = OTHER, True
        classes[name] = stated.get("class", known_class)
        extension[name] = bool(stated.get("extension", known_extension))
        if stated.get("signature"):
            signatures[name] = str(stated["signature"])
    return MetricTable(
        path=path,
        items=items,
        systems=systems,
        groups=groups,
        names=names,
        values=np.array(values, dtype=float),
        classes=classes,
        extension=extension,
        signatures=signatures,
        reasons=_read_reasons(path.with_name(path.name + ".unscored.csv")),
        domain=meta.get("domain"),
    )


def _number(cell: str, name: str, path: Path, line: int) -> float:
    if cell.strip() == "":
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{name} is {cell!r:.40}, not a finite number",
            path=path,
            line=line,
            fix="Write a number, or leave the cell empty where there is no value.",
        )
    return value


def _read_meta(path: Path) -> dict:
    if not path.exists():
        return {}
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path=path, fix="Write it with `faithfuse metrics`.") from None
    metrics = meta.get("metrics", {}) if isinstance(meta, dict) else None
    if not isinstance(metrics, dict) or not all(isinstance(entry, dict) for entry in metrics.values()):
        raise InputError(
            "is not an object with the objects of its `metrics`", path=path, fix="Write it with `faithfuse metrics`."
        )
    return meta


def _read_reasons(path: Path) -> dict[str, dict[tuple[str, str], str]]:
    reasons: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    if path.exists():
        for _, row in iter_csv(path, ("item_id", "system", "metric", "reason")):
            reasons[row["metric"]][row["item_id"], row["system"]] = row["reason"]
    return dict(reasons)


def read_points(metrics: Path | str) -> PointTable | None:
    """Read the values of single points, `METRICS.csv.points.csv`; None where it does not exist or has no row.

    Raises:
        InputError: a column is missing, a value is no finite number, or a point is no whole number.
    """
    metrics = Path(metrics)
    path = metrics.with_name(f"{metrics.name}.points.csv")
    keys, values = [], []
    names: list[str] = []
    for line, row in iter_csv(path, POINT_COLUMNS) if path.exists() else ():
        names = names or [name for name in row if name not in POINT_COLUMNS]
        keys.append((row["item_id"], row["system"], _point(row["point"], path, line, row["item_id"])))
        values.append([_number(row[name], name, path, line) for name in names])
    return PointTable(names, keys, np.array(values, dtype=float)) if keys else None


def read_ratings(path: Path | str) -> list[Rating]:
    """Read ratings from a `.csv` or a `.jsonl` file.

    Raises:
        InputError: a column is missing, a rating is outside 1–5, a point is no whole number, or a judgement
            stands twice.
    """
    path = Path(path)
    if path.suffix == ".jsonl":
        ratings = read_records(path, Rating)
    else:
        ratings = []
        seen: dict[tuple, int] = {}
        for line, row in iter_csv(path, RATING_COLUMNS):
            rating = _rating(row, path, line)
            key = rating.sort_key()
            if key in seen:
                raise InputError(
                    f"repeats the rating of line {seen[key]}",
                    path=path,
                    line=line,
                    record=f"{rating.item_id} {rating.system} {rating.annotator}",
                    fix="Keep one rating per response, point and annotator.",
                )
            seen[key] = line
            ratings.append(rating)
    if not ratings:
        raise InputError("has no ratings", path=path, fix="Give at least one rating.")
    return ratings


def _rating(row: Mapping[str, str], path: Path, line: int) -> Rating:
    for name in ("item_id", "system", "annotator"):
        if not row[name]:
            raise InputError(f"{name} is empty", path=path, line=line, fix="Say what was rated, and by whom.")
    record = f"{row['item_id']} {row['system']}"
    try:
        likert = float(row["likert"]) if row["likert"].strip() else None
    except ValueError:
        raise InputError(
            f"rating {row['likert']!r:.40} is no number",
            path=path,
            line=line,
            record=record,
            fix="Write 1 to 5, or leave the cell empty where the person abstained.",
        ) from None
    if likert is not None and not 1 <= likert <= 5:
        raise InputError(
            f"rating {row['likert']} is outside 1–5",
            path=path,
            line=line,
            record=record,
            fix="Map the scale onto 1 to 5, or leave the cell empty where the person abstained.",
        )
    point = row["point"].strip()
    return Rating(
        item_id=row["item_id"],
        system=row["system"],
        annotator=row["annotator"],
        point=_point(point, path, line, record) if point else None,
        likert=likert,
    )


def _point(cell: str, path: Path, line: int, record: str) -> int:
    if not cell.isdecimal():
        raise InputError(
            f"point {cell!r:.40} is no whole number from 0 on",
            path=path,
            line=line,
            record=record,
            fix="Number a summary's points from 0, or leave the cell empty for the whole response.",
        )
    return int(cell)


def human_values(ratings: Iterable[Rating]) -> dict[tuple[str, str], Human]:
    """What people say of each response, by `(item_id, system)`; responses on which all abstained are left out.

    A response's Likert value is the mean over its points of the mean over raters; a response without points has
    one. Where a response has ratings of points and of the whole, the points count: that is how the paper takes
    the human value of a summary (arXiv 2512.05700, V-C).
    """
    by_response: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.likert is not None:
            by_response[rating.item_id, rating.system].append(rating)
    humans = {}
    for key in sorted(by_response):
        given = by_response[key]
        given = [rating for rating in given if rating.point is not None] or given
        given.sort(key=lambda rating: rating.sort_key())
        points: dict[int | None, list[Rating]] = defaultdict(list)
        raters: dict[str, list[Rating]] = defaultdict(list)
        for rating in given:
            points[rating.point].append(rating)
            raters[rating.annotator].append(rating)
        likert, faithful = np.mean([_means(group) for group in points.values()], axis=0)
        humans[key] = Human(
            likert=float(likert),
            faithful=float(faithful),
            by_rater={name: _means(group) for name, group in raters.items()},
            ratings=len(given),
        )
    return humans


def point_bool(ratings: Iterable[Rating]) -> dict[tuple[str, str, int], float]:
    """Human Bool of single points, by `(item_id, system, point)`: taken per rating, averaged over raters."""
    by_point: dict[tuple[str, str, int], list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.likert is not None and rating.point is not None:
            by_point[rating.item_id, rating.system, rating.point].append(rating)
    return {key: _means(given)[1] for key, given in sorted(by_point.items())}


def _means(ratings: list[Rating]) -> tuple[float, float]:
    return (
        float(np.mean([rating.likert for rating in ratings])),
        float(np.mean([rating.faithful() for rating in ratings])),
    )


@dataclass(frozen=True)
class Joined:
    """Rated responses that have metrics.

    Attributes:
        table: the metric table's rated rows, in the order of (item_id, system).
        human: one entry per row.
        unrated: rows of the table without a rating (generated responses, abstentions).
        unmatched: rated responses that are not in the table.
    """

    table: MetricTable
    human: list[Human]
    unrated: int
    unmatched: int

    @property
    def likert(self) -> np.ndarray:
        """Human Likert per row, 1–5."""
        return np.array([human.likert for human in self.human])

    @property
    def faithful(self) -> np.ndarray:
        """Human Bool per row, 0–1."""
        return np.array([human.faithful for human in self.human])


def join(table: MetricTable, ratings: list[Rating], ratings_path: Path | str) -> Joined:
    """Put ratings beside the metric values of the same responses.

    Raises:
        InputError: no response is in both.
    """
    humans = human_values(ratings)
    index = sorted(
        (i for i, key in enumerate(table.keys) if key in humans), key=lambda i: (table.items[i], table.systems[i])
    )
    if not index:
        rated = next(iter(humans), None)
        shown = f"{rated[0]} {rated[1]}" if rated else "none (all abstained)"
        raise InputError(
            f"rates no response of {table.path} (first rated: {shown}; first in the table: "
            f"{table.items[0]} {table.systems[0]})",
            path=ratings_path,
            fix="Use the same item_id and system in both files.",
        )
    rated_table = table.rows(index)
    return Joined(
        table=rated_table,
        human=[humans[key] for key in rated_table.keys],
        unrated=len(table.items) - len(index),
        unmatched=len(humans) - len(index),
    )


def distinct_metrics(joined: Joined) -> tuple[Joined, dict[str, str]]:
    """Leave out every metric with the values of an earlier one of the table on all rows, missing ones included.

    A repetition tells a model nothing, but takes its share of the importance. Constant metrics stay, since what is to
    be said of them is that they are constant.

    Returns:
        What is left, and why the others are not in it, by name.
    """
    table = joined.table
    kept, repeated = [], {}
    first: dict[bytes, str] = {}
    for index, name in enumerate(table.names):
        # Adding 0 makes -0.0 and 0.0 the same bytes.
        values = table.values[:, index] + 0.0
        scored = values[~np.isnan(values)]
        digits = np.where(np.isnan(values), np.nan, values).tobytes()
        earlier = first.setdefault(digits, name)
        if earlier == name or np.all(scored == scored[:1]):
            kept.append(index)
        else:
            repeated[name] = f"the same values as {earlier} on all {len(values)} rows"
    return replace(joined, table=table.columns(kept)), repeated
