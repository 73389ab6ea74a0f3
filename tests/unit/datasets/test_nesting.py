"""The picture of a task-oriented record (Figure 1)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.datasets.nesting import draw_nesting
from faithfuse.datasets.schema import TodRecord
from faithfuse.datasets.tod import summarise
from faithfuse.errors import InputError
from faithfuse.records import read_records

EXAMPLE = Path(__file__).parents[3] / "config" / "figures" / "task_oriented.jsonl"


@pytest.fixture
def record() -> TodRecord:
    return read_records(EXAMPLE, TodRecord)[0]


def _texts(picture: str) -> list[str]:
    found = ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(each.itertext()) for each in found]


def test_example_record_is_what_the_schema_makes_of_its_turns(record: TodRecord) -> None:
    assert record.summary == summarise(record.turns)


def test_every_slot_and_value_of_the_turn_stands_with_its_index(record: TodRecord) -> None:
    texts = _texts(draw_nesting(record, 1))
    turn = record.turns[1]
    assert turn.utterance in " ".join(texts)
    for i, act in enumerate(turn.acts):
        assert texts[texts.index(act) + 1] == str(i)
        for j, (slot, values) in enumerate(zip(turn.act_slots[i], turn.act_slot_values[i], strict=True)):
            shown = {(text, index) for text, index in pairwise(texts)}
            assert (slot or "null", f"{i},{j}") in shown
            assert (", ".join(values) or "[]", f"{i},{j}") in shown


def test_same_record_gives_the_same_bytes_and_no_box_leaves_the_picture(record: TodRecord) -> None:
    picture = draw_nesting(record)
    assert picture == draw_nesting(record)
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x", 0)) + float(box.get("width")) <= width
        assert float(box.get("y", 0)) + float(box.get("height")) <= height


def test_turn_that_does_not_exist_is_an_error(record: TodRecord) -> None:
    with pytest.raises(InputError, match="2 turns, no turn 7"):
        draw_nesting(record, 7)


def test_nesting_command_writes_the_picture_or_says_which_record_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "figure.svg"
    assert CliRunner().invoke(app, ["data", "nesting", str(EXAMPLE), "--out", str(out)]).exit_code == 0
    assert out.read_text().startswith("<svg")
    result = CliRunner().invoke(app, ["data", "nesting", str(EXAMPLE), "--record", "x", "--out", str(out)])
    assert isinstance(result.exception, InputError)
    assert "holds no such record" in str(result.exception)
