"""Rating: nothing is stored twice, nothing is overwritten unseen, everything can be taken back."""

from __future__ import annotations

import itertools

import pytest

from faithfuse.annotate import adjudicate, figures, judge
from faithfuse.annotate.judge import Refused, Standing
from faithfuse.annotate.store import Store


@pytest.fixture
def store(make_study, material) -> Store:
    return Store(make_study(material).database)


counter = itertools.count()


def rate(store, position, likert, *, name="anna", base=None, **more):
    if base is None:
        base = judge.page(store, name, position).base
    return judge.save(store, name, position, request_id=f"request-{next(counter)}", base=base, likert=likert, **more)


def test_a_rating_and_its_note_stand_after_saving(store):
    rate(store, 1, 4, note="hedged")
    assert judge.page(store, "anna", 1).standing == Standing(4, "hedged")


def test_an_abstention_is_a_judgement_without_a_number(store):
    rate(store, 1, None)
    assert judge.page(store, "anna", 1).standing == Standing(None, "")
    assert judge.progress(store, "anna").done == 1
    assert [rating.likert for rating in figures.ratings(store)] == [None]


def test_the_same_request_again_changes_nothing(store):
    first = judge.save(store, "anna", 1, request_id="sent-twice", base=0, likert=2)
    assert judge.save(store, "anna", 1, request_id="sent-twice", base=0, likert=2) == first
    assert store.read().execute("SELECT count(*) FROM event").fetchone()[0] == 1


def test_a_request_that_arrives_late_does_not_undo_a_later_change(store):
    judge.save(store, "anna", 1, request_id="slow-request", base=0, likert=2)
    rate(store, 1, 5)
    judge.save(store, "anna", 1, request_id="slow-request", base=0, likert=2)
    assert judge.page(store, "anna", 1).standing.likert == 5


def test_a_window_that_was_overtaken_is_told_what_stands(store):
    seen = judge.page(store, "anna", 1).base
    rate(store, 1, 5)
    with pytest.raises(Refused) as refused:
        rate(store, 1, 2, base=seen)
    assert refused.value.status == 409
    assert refused.value.shown["likert"] == 5
    assert judge.page(store, "anna", 1).standing.likert == 5


def test_undo_takes_back_the_latest_judgement_and_restores_the_one_before(store):
    rate(store, 1, 3)
    rate(store, 2, 4)
    rate(store, 1, 5)
    for expected in ([3, 4], [3, None], [None, None]):
        last = judge.progress(store, "anna").last_event
        judge.undo(store, "anna", request_id=f"undo-{last}", last=last)
        pages = [judge.page(store, "anna", position) for position in (1, 2)]
        assert [page.standing and page.standing.likert for page in pages] == expected
    with pytest.raises(Refused, match="nothing to undo"):
        judge.undo(store, "anna", request_id="undo-again", last=0)


def test_an_undo_is_kept_in_the_history(store):
    event = rate(store, 1, 3)
    judge.undo(store, "anna", request_id="undo-1234", last=event)
    kinds = [row["kind"] for row in store.read().execute("SELECT kind FROM event ORDER BY event_id")]
    assert kinds == ["rate", "undo"]


def test_an_undo_sent_twice_undoes_once(store):
    rate(store, 1, 3)
    last = rate(store, 2, 4)
    assert judge.undo(store, "anna", request_id="undo-twice", last=last) == 2
    assert judge.undo(store, "anna", request_id="undo-twice", last=last) == 2
    assert judge.page(store, "anna", 1).standing.likert == 3


def test_an_undo_means_the_judgement_that_its_page_showed(store):
    shown = rate(store, 1, 3)
    rate(store, 2, 4)
    with pytest.raises(Refused, match="another window"):
        judge.undo(store, "anna", request_id="undo-stale", last=shown)


def test_one_resumes_at_the_first_open_unit_after_the_present_one(store):
    assert judge.next_position(store, "anna") == 1
    for position in (1, 2, 4):
        rate(store, position, 3)
    assert judge.next_position(store, "anna") == 3
    assert judge.next_position(store, "anna", after=4) == 5
    total = judge.progress(store, "anna").total
    for position in range(5, total + 1):
        rate(store, position, 3)
    assert judge.next_position(store, "anna", after=total) == 3
    rate(store, 3, 3)
    assert judge.next_position(store, "anna") is None


def test_time_left_is_said_only_once_there_is_a_pace_and_follows_the_median(store):
    for position, seconds in enumerate((8, 9, 10, 11), start=1):
        rate(store, position, 3, seconds=seconds)
    assert judge.progress(store, "anna").seconds_left is None
    rate(store, 5, 3, seconds=4000)  # a coffee break
    progress = judge.progress(store, "anna")
    assert progress.seconds_each == 10
    assert progress.seconds_left == 10 * (progress.total - 5)


def test_annotators_do_not_touch_each_other(store):
    rate(store, 1, 3, name="anna")
    assert judge.page(store, "ben", 1).standing is None
    assert judge.progress(store, "ben").done == 0


def test_nothing_can_be_changed_once_labelling_is_closed(store):
    event = rate(store, 1, 3)
    adjudicate.close(store)
    with pytest.raises(Refused, match="closed"):
        rate(store, 2, 3)
    with pytest.raises(Refused, match="closed"):
        judge.undo(store, "anna", request_id="undo-late", last=event)


def test_a_request_that_was_stored_before_closing_is_still_acknowledged(store):
    first = judge.save(store, "anna", 1, request_id="just-in-time", base=0, likert=2)
    adjudicate.close(store)
    assert judge.save(store, "anna", 1, request_id="just-in-time", base=0, likert=2) == first


def test_standing_ratings_are_what_the_history_gives(store):
    for position, likert in ((1, 3), (2, None), (1, 5), (3, 2)):
        rate(store, position, likert)
    for _ in range(2):
        last = judge.progress(store, "anna").last_event
        judge.undo(store, "anna", request_id=f"undo-{last}-x", last=last)
    replayed: dict[int, list] = {}
    for row in store.read().execute("SELECT * FROM event ORDER BY event_id"):
        stack = replayed.setdefault(row["unit_id"], [])
        stack.append(row["likert"]) if row["kind"] == "rate" else stack.pop()
    expected = {unit: stack[-1] for unit, stack in replayed.items() if stack}
    assert {unit: said["anna"] for unit, said in adjudicate.original_ratings(store.read()).items()} == expected
