"""Items and responses from plain CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithfuse.errors import InputError
from faithfuse.metrics.plain import read_items, read_responses
from faithfuse.records import Domain, Turn


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_need_an_id_a_question_and_references(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "i.csv", 'item_id,question,reference,reference_2\n001,Who?,Bob,"Bob, Jr."\n2,Where?,Rome,\n'
    )
    first, second = read_items(path, Domain.SHORT_FORM_QA)
    assert (first.item_id, first.references.short, first.group) == ("001", ["Bob", "Bob, Jr."], "001")
    assert second.references.short == ["Rome"]


def test_dialogues_and_points_stand_on_lines_of_a_cell(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "i.csv",
        "item_id,domain,transcript,reference_points,group\n"
        'd1,summarisation,"Ana: Hi: there\nBob: Hello","* Ana greets Bob.\n- Bob answers.\n",g\n',
    )
    (item,) = read_items(path)
    assert item.context == [Turn(speaker="Ana", text="Hi: there"), Turn(speaker="Bob", text="Hello")]
    assert item.references.points == ["Ana greets Bob.", "Bob answers."]
    assert item.group == "g"


def test_an_empty_response_with_a_reason_is_missing(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.csv", "item_id,system,text,reason\n1,s,Rome,\n2,s,,timed out\n")
    first, second = read_responses(path)
    assert (first.text, first.reason) == ("Rome", None)
    assert (second.text, second.reason) == (None, "timed out")


def test_a_byte_order_mark_and_line_breaks_of_windows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes("\ufeffitem_id,system,text\r\n1,s,Zoë\r\n".encode())
    assert read_responses(path)[0].text == "Zoë"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item_id,system\n1,s\n", r"r\.csv:1: the header lacks 'text'"),
        ("item_id,system,text,txet\n1,s,a,b\n", "does not know 'txet'"),
        ("item_id,system,text,text\n1,s,a,b\n", "repeats 'text'"),
        ("item_id,system,text\n1,s,a,b\n", r"r\.csv:2: has 4 cells. Write 3"),
        ("item_id,system,text\n1,s\n", r"r\.csv:2: has 2 cells"),
        ("item_id,system,text\n1,s,\n", r"r\.csv:2 \(1\): is no Response: .*empty"),
        ("item_id,system,text\n1,s,a\n1,s,b\n", r"r\.csv:3 \(1 s\): repeats the Response of line 2"),
        ('item_id,system,text\n1,s,"a\n', "is not CSV"),
        ("", "the header lacks"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_responses(_write(tmp_path / "r.csv", text))


def test_items_without_a_domain_say_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--domain"):
        read_items(_write(tmp_path / "i.csv", "item_id,question,reference\n1,Who?,Bob\n"))


def test_a_file_that_is_not_there_or_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_responses(tmp_path / "none.csv")
    (tmp_path / "r.csv").write_bytes("item_id,system,text\n1,s,Zoë\n".encode("latin-1"))
    with pytest.raises(InputError, match="Save the file as UTF-8"):
        read_responses(tmp_path / "r.csv")
