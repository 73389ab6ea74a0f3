"""Items, responses and ratings are checked against each other before anything is made from them."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.datasets.items import gather
from faithfuse.errors import InputError
from faithfuse.records import Domain


def item(key, **change):
    value = {
        "item_id": key,
        "domain": "short_form_qa",
        "source_set": "test",
        "question": "Who?",
        "references": {"short": ["Ada"]},
        "group": key,
    }
    return value | change


def response(key, system="a", **change):
    return {"item_id": key, "system": system, "text": "Ada"} | change


def rating(key, system="a", **change):
    return {"item_id": key, "system": system, "annotator": "x", "likert": 4} | change


@pytest.fixture
def folder(tmp_path):
    def make(items, responses=(), ratings=(), name="data"):
        target = tmp_path / name
        target.mkdir()
        for file, values in (("items", items), ("responses", responses), ("ratings", ratings)):
            (target / f"{file}.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values))
        return target

    return make


def test_one_domain_is_kept_with_its_responses_and_ratings(folder):
    long = item("l", domain="long_form_qa", references={"long": ["Ada Lovelace."]})
    data = folder([item("s"), long], [response("s"), response("l")], [rating("s"), rating("l")])
    study = gather([data], Domain.LONG_FORM_QA)
    assert [record.item_id for records in study[:3] for record in records] == ["l", "l", "l"]
    assert study.left_out == []


@pytest.mark.parametrize(
    ("responses", "ratings", "said"),
    [
        ([response("z")], [], "answers an item that does not exist"),
        ([response("s")], [rating("s", system="b")], "rates a response that does not exist"),
        (
            [response("s", points=["one"])],
            [rating("s", point=1)],
            "rates point 1, but the response has 1 points",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(folder, responses, ratings, said):
    with pytest.raises(InputError, match=said):
        gather([folder([item("s")], responses, ratings)], Domain.SHORT_FORM_QA)


def test_a_folder_in_which_no_item_has_a_reference_is_refused(folder):
    with pytest.raises(InputError, match="no reference for short_form_qa, and neither has any other"):
        gather([folder([item("s", references={}), item("t", references={})])], Domain.SHORT_FORM_QA)


def test_items_without_a_reference_are_left_out_and_counted_with_what_belongs_to_them(folder, tmp_path):
    items = [item("s"), item("t", references={}), item("u", references={"points": ["Ada"]})]
    responses = [response("s"), response("t"), response("t", "b"), response("u")]
    data = folder(items, responses, [rating("s"), rating("t"), rating("u")])
    out = tmp_path / "out"
    said = CliRunner().invoke(app, ["items", str(data), "--domain", "short_form_qa", "--out", str(out)])
    assert (
        f"{data}: left out 2 of 3 items without a reference for short_form_qa, with their 3 responses and 2 ratings"
        in said.output
    )
    for name in ("items", "responses", "ratings"):
        lines = (out / f"{name}.jsonl").read_text().splitlines()
        assert [json.loads(line)["item_id"] for line in lines] == ["s"]


def test_a_draw_takes_only_items_with_a_reference(folder):
    items = [item(f"s{n:02}", references={"short": ["Ada"]} if n % 2 else {}) for n in range(20)]
    study = gather([folder(items)], Domain.SHORT_FORM_QA, limit=10)
    assert [record.item_id for record in study.items] == [f"s{n:02}" for n in range(1, 20, 2)]


def test_an_item_of_another_domain_needs_no_reference(folder):
    data = folder([item("s"), item("l", domain="long_form_qa", references={})], [response("s")])
    study = gather([data], Domain.SHORT_FORM_QA)
    assert ([record.item_id for record in study.items], study.left_out) == (["s"], [])


def test_a_summary_may_have_its_source_in_place_of_a_reference(folder):
    source = {"question": None, "references": {}, "context": [{"speaker": "", "text": "A story."}]}
    told = item("t", domain="summarisation", **source)
    neither = item(
        "n", domain="summarisation", **(source | {"context": [], "provenance": {"context_missing": "ids only"}})
    )
    study = gather([folder([told, neither], [response("t", points=["Ada"])])], Domain.SUMMARISATION)
    assert [record.item_id for record in study.items] == ["t"]
    assert "left out 1 of 2 items" in study.left_out[0]


def test_two_folders_may_not_share_an_id(folder):
    with pytest.raises(InputError, match="is also in"):
        gather([folder([item("s")], name="one"), folder([item("s")], name="two")], Domain.SHORT_FORM_QA)


def test_a_domain_without_items_is_refused(folder):
    with pytest.raises(InputError, match="no summarisation item"):
        gather([folder([item("s")])], Domain.SUMMARISATION)


def test_a_draw_is_seeded_and_keeps_what_belongs_to_the_items(folder):
    keys = [f"s{n:02}" for n in range(30)]
    data = folder([item(key) for key in keys], [response(key) for key in keys], [rating(key) for key in keys])
    one, same, other = (gather([data], Domain.SHORT_FORM_QA, limit=10, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.items != other.items
    assert [r.item_id for r in one.responses] == [i.item_id for i in one.items] == [r.item_id for r in one.ratings]


def test_a_failed_check_leaves_earlier_results(folder, tmp_path):
    out = tmp_path / "out"
    good = folder([item("s")], [response("s")], name="good")
    bad = folder([item("s")], [response("t")], name="bad")
    arguments = ["--domain", "short_form_qa", "--out", str(out)]
    assert CliRunner().invoke(app, ["items", str(good), *arguments]).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert isinstance(CliRunner().invoke(app, ["items", str(bad), *arguments]).exception, InputError)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
