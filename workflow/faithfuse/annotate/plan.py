"""Who judges what, in which order: drawn from the seed and the ids alone, so that anybody can repeat it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from faithfuse.annotate.sources import Material
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings
from faithfuse.datasets.select import rank, select
from faithfuse.errors import FaithfuseError
from faithfuse.records import Domain, dump_line


class Unit(NamedTuple):
    """What is judged in one go."""

    item_id: str
    system: str
    point: int | None


NAME = re.compile(r"\w[\w.@+-]{0,63}")


def check_name(name: str) -> str:
    """An annotator's name (better a pseudonym: it stands in the exported ratings).

    Raises:
        FaithfuseError: it is empty, too long, begins with a sign (a spreadsheet might take it for a formula), or holds
            other signs than letters, digits and `._@+-`.
    """
    if not NAME.fullmatch(name):
        raise FaithfuseError(
            f"annotator {name!r:.80}: a name has 1 to 64 letters, digits or . _ @ + - and begins with a letter or "
            "digit. Choose such a pseudonym."
        )
    return name


def draw(material: Material, settings: Settings) -> list[Unit]:
    """The units of the drawn items: one per response, or one per point of a summary that has points.

    `settings.sample` items are drawn per domain, each source set in proportion to its share.
    """
    rated = {response.item_id for response in material.responses if response.text is not None}
    chosen: set[str] = set()
    for domain in Domain:
        strata = {
            item.item_id: item.source_set for item in material.items if item.domain == domain and item.item_id in rated
        }
        chosen |= select(strata, settings.sample or len(strata), settings.seed)
    domain_of = {item.item_id: item.domain for item in material.items}
    units = []
    for response in material.responses:
        if response.item_id not in chosen or response.text is None:
            continue
        by_point = domain_of[response.item_id] == Domain.SUMMARISATION and response.points
        points: Iterable[int | None] = range(len(response.points)) if by_point else (None,)
        units += [Unit(response.item_id, response.system, point) for point in points]
    return units


def fill_ratings(
    store: Store,
    settings: Settings,
    material: Material,
    annotators: Sequence[str],
    checks: tuple[Material, Mapping[str, list[int]]] | None = None,
) -> None:
    """Put the material, the units and everybody's assignment into an empty study."""
    units = draw(material, settings)
    expected = checks[1] if checks else {}
    check_units = draw(checks[0], Settings()) if checks else []
    with store.write() as db:
        for part in (material, checks[0]) if checks else (material,):
            db.executemany("INSERT INTO item VALUES (?, ?)", [(item.item_id, dump_line(item)) for item in part.items])
            db.executemany(
                "INSERT INTO response VALUES (?, ?, ?)", [(r.item_id, r.system, dump_line(r)) for r in part.responses]
            )
        _insert_units(db, settings, units, check_units, expected, annotators)


def fill_tuples(store: Store, settings: Settings, tuples: list[dict[str, Any]], annotators: Sequence[str]) -> None:
    """Put audit tuples and everybody's assignment into an empty study; `sample` draws of all tuples."""
    ids = {each["tuple"]["tuple_id"]: "" for each in tuples}
    chosen = select(ids, settings.sample or len(ids), settings.seed)
    with store.write() as db:
        db.executemany(
            "INSERT INTO item VALUES (?, ?)",
            [(each["tuple"]["tuple_id"], json.dumps(each, ensure_ascii=False)) for each in tuples],
        )
        _insert_units(db, settings, [Unit(name, "", None) for name in sorted(chosen)], [], {}, annotators)


def _insert_units(
    db: sqlite3.Connection,
    settings: Settings,
    units: list[Unit],
    checks: list[Unit],
    expected: Mapping[str, list[int]],
    annotators: Sequence[str],
) -> None:
    ids = sorted({unit.item_id for unit in units}, key=lambda name: rank(f"overlap\x00{name}", settings.seed))
    overlap = len(ids) if settings.overlap is None else settings.overlap
    shared = set(ids[:overlap])
    owner = {name: annotators[place % len(annotators)] for place, name in enumerate(ids[overlap:])}
    number = {}
    for unit in units + checks:
        passes = " ".join(map(str, expected.get(unit.item_id, []))) or None
        number[unit] = db.execute(
            "INSERT INTO unit (item_id, system, point, shared, expected) VALUES (?, ?, ?, ?, ?)",
            (*unit, unit in checks or unit.item_id in shared, passes),
        ).lastrowid
    for name in annotators:
        db.execute("INSERT INTO annotator (name) VALUES (?)", (name,))
        mine = [unit for unit in units + checks if owner.get(unit.item_id, name) == name]
        ordered = order(mine, name, settings.seed)
        db.executemany(
            "INSERT INTO assignment VALUES (?, ?, ?)",
            [(name, position, number[unit]) for position, unit in enumerate(ordered, start=1)],
        )


def order(units: Iterable[Unit], annotator: str, seed: int) -> list[Unit]:
    """An annotator's own order: responses shuffled by seed and name, the points of one in their order."""
    return sorted(
        units,
        key=lambda unit: (
            rank(f"{annotator}\x00{unit.item_id}\x00{unit.system}", seed),
            -1 if unit.point is None else unit.point,
        ),
    )


def add_annotator(store: Store, settings: Settings, name: str, take_over: str | None = None) -> int:
    """Add an annotator who judges the shared units and, with `take_over`, what somebody else has not judged yet.

    Returns:
        How many units the new annotator got.

    Raises:
        FaithfuseError: the name is taken or malformed, or `take_over` names nobody.
    """
    check_name(name)
    with store.write() as db:
        names = [row["name"] for row in db.execute("SELECT name FROM annotator")]
        if name in names:
            raise FaithfuseError(f"annotator {name} exists already. Choose another name.")
        if take_over is not None and take_over not in names:
            raise FaithfuseError(f"there is no annotator {take_over}. The study has {', '.join(sorted(names))}.")
        db.execute("INSERT INTO annotator (name) VALUES (?)", (name,))
        rows = list(db.execute("SELECT * FROM unit WHERE shared"))
        if take_over is not None:
            taken = list(
                db.execute(
                    "SELECT unit.* FROM assignment JOIN unit USING (unit_id) WHERE annotator = ? AND NOT shared "
                    "AND unit_id NOT IN (SELECT unit_id FROM event WHERE annotator = ?) "
                    "AND unit_id NOT IN (SELECT unit_id FROM label WHERE annotator = ?)",
                    (take_over,) * 3,
                )
            )
            db.executemany(
                "DELETE FROM assignment WHERE annotator = ? AND unit_id = ?",
                [(take_over, row["unit_id"]) for row in taken],
            )
            rows += taken
        number = {Unit(row["item_id"], row["system"], row["point"]): row["unit_id"] for row in rows}
        db.executemany(
            "INSERT INTO assignment VALUES (?, ?, ?)",
            [
                (name, position, number[unit])
                for position, unit in enumerate(order(number, name, settings.seed), start=1)
            ],
        )
        return len(number)
