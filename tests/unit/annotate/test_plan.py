"""Who judges what and in which order follows from the seed and the ids alone."""

from __future__ import annotations

import pytest

from faithfuse.annotate import plan, sources
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings
from faithfuse.errors import FaithfuseError


def listed(study, name) -> list[tuple]:
    rows = (
        Store(study.database)
        .read()
        .execute(
            "SELECT item_id, system, point FROM assignment JOIN unit USING (unit_id) WHERE annotator = ? "
            "ORDER BY position",
            (name,),
        )
    )
    return [tuple(row) for row in rows]


def test_the_same_seed_gives_an_annotator_the_same_order_again(make_study, material):
    one, other = make_study(material, seed=3), make_study(material, seed=3)
    assert listed(one, "anna") == listed(other, "anna")


def test_two_annotators_and_two_seeds_have_different_orders_of_the_same_units(make_study, material):
    one, other = make_study(material, seed=3), make_study(material, seed=4)
    orders = [listed(one, "anna"), listed(one, "ben"), listed(other, "anna")]
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1


def test_the_points_of_a_summary_come_one_after_the_other(make_study, material):
    order = listed(make_study(material), "anna")
    first = order.index(("item-013", "system-x", 0))
    assert [unit[2] for unit in order[first : first + 3]] == [0, 1, 2]


@pytest.mark.parametrize("overlap", [0, 4, 13, 99])
def test_shared_items_go_to_all_and_every_other_item_to_exactly_one(make_study, material, overlap):
    study = make_study(material, names=("anna", "ben", "cleo"), overlap=overlap)
    lists = [{unit[0] for unit in listed(study, name)} for name in ("anna", "ben", "cleo")]
    everything = set.union(*lists)
    assert everything == {item.item_id for item in material.items}
    shared = set.intersection(*lists)
    assert len(shared) == min(overlap, 13)
    assert all(sum(item in each for each in lists) == 1 for item in everything - shared)


def test_a_sample_is_drawn_per_domain_and_the_rest_stays_in_the_study_unrated(make_study, made):
    items = [made.item(n) for n in range(500)]
    items += [made.item(n, domain="short_form_qa", references={"short": ["x"]}) for n in range(500, 700)]
    material = sources.Material(items, [made.response(item.item_id) for item in items])
    study = make_study(material, sample=100, seed=7)
    drawn = {unit[0] for unit in listed(study, "anna")}
    assert len([name for name in drawn if name < "item-500"]) == 100
    assert len([name for name in drawn if name >= "item-500"]) == 100
    stored = Store(study.database).read().execute("SELECT count(*) FROM response").fetchone()[0]
    assert stored == 700


def test_the_draw_does_not_depend_on_the_annotators(make_study, material):
    one = make_study(material, names=("anna",), sample=5, seed=1)
    other = make_study(material, names=("zoe", "yan"), sample=5, seed=1)
    assert {unit[0] for unit in listed(one, "anna")} == {unit[0] for unit in listed(other, "zoe")}


def test_a_response_without_text_is_not_rated(make_study, made):
    items = [made.item(1), made.item(2)]
    missing = made.response("item-002", text=None, reason="the model gave none")
    study = make_study(sources.Material(items, [made.response("item-001"), missing]))
    assert [unit[0] for unit in listed(study, "anna")] == ["item-001"]


def test_a_new_annotator_takes_over_what_another_has_not_judged(make_study, material):
    from faithfuse.annotate import judge

    study = make_study(material, overlap=2)
    store = Store(study.database)
    own = [unit for unit in listed(study, "ben") if unit not in listed(study, "anna")]
    done = listed(study, "ben").index(own[0]) + 1
    judge.save(store, "ben", done, request_id="r" * 8, base=0, likert=4)
    plan.add_annotator(store, study.settings, "cleo", take_over="ben")
    assert own[0] in listed(study, "ben")
    assert set(own[1:]) <= set(listed(study, "cleo"))
    assert not set(own[1:]) & set(listed(study, "ben"))


@pytest.mark.parametrize("name", ["", "a b", "<b>", "x" * 65, "a/b", "a\nb", "@SUM", "-1", "+1"])
def test_a_name_that_would_break_a_file_or_a_page_is_refused(make_study, material, name):
    with pytest.raises(FaithfuseError, match="pseudonym"):
        plan.add_annotator(Store(make_study(material).database), Settings(), name)
