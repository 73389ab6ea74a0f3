"""Records are refused when malformed, and written so that equal records give equal bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithfuse.errors import InputError
from faithfuse.records import Domain, Item, Rating, Response, Score, atomic_write, read_records, write_records

ITEM = {
    "item_id": "q1",
    "domain": "short_form_qa",
    "source_set": "test",
    "question": "Which metal is liquid at room temperature?",
    "references": {"short": ["mercury", "Hg"]},
    "group": "q1",
}
RATING = {"item_id": "q1", "system": "a", "annotator": "x", "likert": 3}


def write_lines(path: Path, *values: object) -> Path:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def test_reading_gives_back_what_was_written(tmp_path):
    items = [Item.model_validate(ITEM | {"item_id": key, "question": "¿Qué? 🙂"}) for key in ("b", "a")]
    write_records(tmp_path / "items.jsonl", items)
    assert read_records(tmp_path / "items.jsonl", Item) == sorted(items, key=Item.sort_key)


def test_order_of_records_does_not_change_bytes(tmp_path):
    items = [Item.model_validate(ITEM | {"item_id": key}) for key in "abc"]
    write_records(tmp_path / "one", items)
    write_records(tmp_path / "two", reversed(items))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (RATING | {"likert": 7}, "likert: Input should be less than or equal to 5, found 7"),
        (RATING | {"likert": 0}, "greater than or equal to 1"),
        ({key: RATING[key] for key in ("item_id", "system", "likert")}, "annotator: Field required"),
        (RATING | {"stars": 3}, "stars: Extra inputs are not permitted"),
        (RATING | {"likert": "good"}, "valid number"),
        ([1], "valid dictionary"),
    ],
)
def test_a_malformed_rating_is_refused_with_file_line_and_remedy(tmp_path, value, said):
    path = write_lines(tmp_path / "ratings.jsonl", RATING, value)
    with pytest.raises(InputError) as error:
        read_records(path, Rating)
    assert f"{path}:2" in str(error.value)
    assert said in str(error.value)
    assert "docs/records.md" in str(error.value)


def test_abstaining_is_null_not_a_missing_field(tmp_path):
    path = write_lines(tmp_path / "ratings.jsonl", RATING | {"likert": None})
    (rating,) = read_records(path, Rating)
    assert rating.likert is None
    assert rating.faithful() is None


def test_bool_is_likert_three_or_more():
    assert [Rating(**RATING | {"likert": n}).faithful() for n in (1, 2, 2.9, 3, 5)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_two_records_may_not_share_a_key(tmp_path):
    path = write_lines(tmp_path / "items.jsonl", ITEM, ITEM | {"question": "Another?"})
    with pytest.raises(InputError, match=r"items.jsonl:2 \(q1\): repeats the Item of line 1"):
        read_records(path, Item)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"item_id": "q1"', "is not JSON"),
        (b'\xff\xfe{"item_id"', "is not UTF-8"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"item_id": "a", "item_id": "b"}', "the key 'item_id' stands twice"),
        (b'{"item_id": ' + b"1" * 5000 + b"}", "is not JSON"),
    ],
)
def test_a_broken_line_is_named(tmp_path, raw, said):
    path = tmp_path / "items.jsonl"
    path.write_bytes(json.dumps(ITEM).encode() + b"\n" + raw + b"\n")
    with pytest.raises(InputError, match=said) as error:
        read_records(path, Item)
    assert error.value.line == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere.jsonl: cannot be read"):
        read_records(tmp_path / "nowhere.jsonl", Item)


def test_a_byte_order_mark_is_tolerated(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ITEM).encode())
    assert len(read_records(path, Item)) == 1


def test_an_empty_response_is_refused_and_null_needs_a_reason():
    with pytest.raises(ValueError, match="the response is empty"):
        Response(item_id="q1", system="a", text="  \n")
    with pytest.raises(ValueError, match="needs a reason"):
        Response(item_id="q1", system="a", text=None)
    assert Response(item_id="q1", system="a", text=None, reason="prompt too long").text is None


def test_a_score_is_null_only_with_a_reason():
    with pytest.raises(ValueError, match="null without a reason"):
        Score(item_id="q1", system="a", metric="ROUGE-1", value=None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domain": "poetry"}, "Input should be"),
        ({"question": " "}, "needs a question"),
        ({"domain": "summarisation"}, "needs a context"),
        ({"item_id": ""}, "at least 1 character"),
    ],
)
def test_an_item_has_what_its_domain_needs(change, said):
    with pytest.raises(ValueError, match=said):
        Item.model_validate(ITEM | change)


def test_gold_is_the_references_of_the_domain():
    references = {"short": ["s"], "long": ["l"], "points": ["p", "q"]}
    turn = [{"speaker": "A", "text": "hi"}]
    gold = {
        domain: Item.model_validate(ITEM | {"domain": domain, "references": references, "context": turn}).gold()
        for domain in Domain
    }
    assert gold["short_form_qa"] == ["s"]
    assert gold["long_form_qa"] == ["l"]
    assert gold["conversational_qa"] == ["s", "l"]
    assert gold["summarisation"] == ["l"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("good")
    with pytest.raises(RuntimeError), atomic_write(path) as stream:
        stream.write("half")
        raise RuntimeError
    assert path.read_text() == "good"
    assert list(tmp_path.iterdir()) == [path]
