"""Labels become sealed records; the checker's word counts; originals stay."""

from __future__ import annotations

import itertools
import json

import pytest
from pydantic import ValidationError

from faithfuse.annotate import adjudicate, export, figures, judge, label
from faithfuse.annotate.judge import Refused
from faithfuse.annotate.label import Labels
from faithfuse.annotate.store import Store
from faithfuse.annotate.text import plain
from faithfuse.audit.check import check_bytes
from faithfuse.audit.record import texts

CODEBOOK = "made-up/1"
PASSAGES = {
    "I": ("source", "earn a commission\r\nwhen you buy 👩‍👩‍👧"),
    "A": ("answer", "excellent\nand"),
    "M": ("query", "good? 💡"),
    "D": ("answer", "lasts long."),
}
counter = itertools.count()


@pytest.fixture
def study(make_audit):
    return make_audit()


@pytest.fixture
def store(study):
    return Store(study.database)


@pytest.fixture
def labels_of(made):
    """Labels such as `110U`, each resolved one with a passage that holds emoji or line ends."""

    def labels_of(state: str, base: int = 0, **fields) -> Labels:
        values = {name: {"1": 1, "0": 0, "U": None}[sign] for name, sign in zip("IAMD", state, strict=True)}
        evidence = {}
        for name, value in values.items():
            snapshot, quote = PASSAGES[name]
            start = made.texts[snapshot].index(quote)
            mark = {"snapshot": snapshot, "start": start, "end": start + len(quote), "quote": plain(quote)}
            evidence[name] = [] if value is None else [mark]
        return Labels.model_validate(
            {
                "request_id": f"request-{next(counter)}",
                "base": base,
                "judgements": values,
                "reasons": {name: "the texts do not say" if value is None else "" for name, value in values.items()},
                "evidence": evidence,
                "support": 1,
            }
            | fields
        )

    return labels_of


def save(store, labels, name="anna", position=1):
    return label.save_labels(store, name, position, labels, codebook=CODEBOOK)


@pytest.mark.parametrize("state", ["1110", "0000", "1111", "UUUU", "11U0"])
def test_what_is_saved_is_a_record_that_the_checker_accepts(store, labels_of, state):
    receipt = save(store, labels_of(state))
    (line,) = export.record_lines(store)
    result = check_bytes(line.encode())
    assert result.accepted
    assert receipt["record"] == result.record_digest
    assert result.state() == receipt["endpoint"] == {"1110": "1", "UUUU": "U", "11U0": "U"}.get(state, "0")


def test_spans_are_code_points_of_the_stored_text_across_line_ends_and_emoji(store, labels_of):
    save(store, labels_of("1110"))
    record = json.loads(export.record_lines(store)[0])
    snapshots = texts(record)
    for name, (snapshot, quote) in PASSAGES.items():
        (span,) = record["annotation"]["evidence"][name]
        assert span["snapshot"] == snapshot
        assert snapshots[snapshot][span["start"] : span["end"]] == quote


def test_a_change_is_a_new_revision_that_names_the_old_one_and_the_old_one_stays(store, labels_of):
    save(store, labels_of("1110"))
    save(store, labels_of("1111", base=1))
    first, second = map(json.loads, export.record_lines(store))
    assert second["annotation"]["revision"] == 2
    assert second["annotation"]["replaces"] == first["digests"]["annotation"]
    assert first["annotation"]["judgements"]["D"] == 0
    assert all(check_bytes(line.encode()).accepted for line in export.record_lines(store))
    assert [json.loads(line)["annotation"]["revision"] for line in export.record_lines(store, latest=True)] == [2]


def refused(store, labels) -> Refused:
    with pytest.raises(Refused) as caught:
        save(store, labels)
    assert export.record_lines(store) == []
    return caught.value


def test_unknown_without_a_reason_is_rejected_in_its_place(store, labels_of):
    problem = refused(store, labels_of("11U0", reasons={"M": "  "}))
    assert problem.status == 422
    assert [(each["field"], each["code"]) for each in problem.shown["defects"]] == [("M", "predicate.reason")]


def test_a_resolved_answer_without_evidence_is_rejected_in_its_place(store, labels_of):
    problem = refused(store, labels_of("1110", evidence={}))
    assert {(each["field"], each["code"]) for each in problem.shown["defects"]} == {
        (name, "evidence.missing") for name in "IAMD"
    }


def test_evidence_in_the_wrong_text_is_rejected_in_its_place(store, labels_of, made):
    mark = {"snapshot": "answer", "start": 0, "end": 3, "quote": made.texts["answer"][:3]}
    labels = labels_of("1110")
    labels.evidence["I"] = [label.Mark(**mark)]
    problem = refused(store, labels)
    assert [(each["field"], each["code"]) for each in problem.shown["defects"]] == [("I", "evidence.inadmissible")]


@pytest.mark.parametrize(
    "change", [{"quote": "other words"}, {"end": 10_000}, {"snapshot": "elsewhere"}, {"start": 6}, {"start": 19}]
)
def test_a_mark_that_is_not_what_the_page_showed_is_refused(store, labels_of, change):
    labels = labels_of("1110")
    labels.evidence["A"] = [labels.evidence["A"][0].model_copy(update=change)]
    assert refused(store, labels).shown["defects"][0]["field"] == "A"


@pytest.mark.parametrize("value", [2, -1])
def test_another_number_is_no_judgement(store, labels_of, value):
    labels = labels_of("1110")
    labels.judgements["I"] = value
    assert refused(store, labels).shown["defects"][0]["code"].startswith("predicate.")


@pytest.mark.parametrize("broken", [{"judgements": {"I": True}}, {"judgements": {"I": "U"}}, {"support": 2}, {"x": 1}])
def test_a_page_cannot_send_other_types(labels_of, broken):
    with pytest.raises(ValidationError):
        labels_of("1110", **broken)


def test_a_missing_judgement_is_not_taken_for_unknown(store, labels_of):
    labels = labels_of("1110")
    del labels.judgements["M"]
    assert "M is missing" in str(refused(store, labels))


def test_labels_sent_twice_are_stored_once(store, labels_of):
    labels = labels_of("1110")
    assert save(store, labels) == save(store, labels)
    assert len(export.record_lines(store)) == 1


def test_a_window_that_was_overtaken_does_not_overwrite(store, labels_of):
    save(store, labels_of("1110"))
    with pytest.raises(Refused, match="another window"):
        save(store, labels_of("0000"))
    assert len(export.record_lines(store)) == 1


def test_support_and_the_four_predicates_are_independent(store, labels_of):
    for base, support in enumerate((1, 0, None)):
        receipt = save(store, labels_of("1110", base=base, support=support))
        assert receipt["endpoint"] == "1"
    assert [json.loads(line)["support"] for line in export.record_lines(store)] == [1, 0, None]


def test_query_susceptibility_and_weights_come_from_the_tuple(store, labels_of):
    save(store, labels_of("1110"))
    record = json.loads(export.record_lines(store)[0])
    assert record["dimensions"] == {"dA": 1, "dD": 1, "dI": 1, "dM": 1, "dQ": 0.5}
    assert set(record["weights"].values()) == {0.2}


def both(store, labels_of, anna: str, ben: str):
    save(store, labels_of(anna))
    position = next(p for p in (1, 2, 3) if label.tuple_page(store, "ben", p).unit_id == unit_of(store))
    save(store, labels_of(ben), "ben", position)


def unit_of(store) -> int:
    return label.tuple_page(store, "anna", 1).unit_id


def test_adjudication_waits_until_independent_labelling_is_closed(store, labels_of):
    both(store, labels_of, "1110", "1111")
    with pytest.raises(Refused, match="Close"):
        adjudicate.decide_labels(store, unit_of(store), labels_of("1110"), codebook=CODEBOOK)
    adjudicate.close(store)
    with pytest.raises(Refused, match="closed"):
        save(store, labels_of("0000", base=1))


def test_a_decision_stands_beside_the_originals_and_leaves_agreement_as_it_was(store, study, labels_of):
    both(store, labels_of, "1110", "11U1")
    adjudicate.close(store)
    before = figures.agreement(store, study.settings, resamples=10), export.record_lines(store)
    (row,) = adjudicate.disagreements(store, "audit")
    assert row.fields == ("M", "D")
    adjudicate.decide_labels(store, row.unit_id, labels_of("1110"), codebook=CODEBOOK)
    assert (figures.agreement(store, study.settings, resamples=10), export.record_lines(store)) == before
    (line,) = export.adjudicated_lines(store)
    assert check_bytes(line.encode()).accepted
    assert json.loads(line)["annotation"]["annotator"] == "adjudication"
    assert adjudicate.disagreements(store, "audit")[0].decided["record"] == json.loads(line)


def test_a_second_decision_is_a_revision_of_the_first(store, labels_of):
    both(store, labels_of, "1110", "1111")
    adjudicate.close(store)
    adjudicate.decide_labels(store, unit_of(store), labels_of("1110"), codebook=CODEBOOK)
    first = json.loads(export.adjudicated_lines(store)[0])
    with pytest.raises(Refused, match="another window"):
        adjudicate.decide_labels(store, unit_of(store), labels_of("1111"), codebook=CODEBOOK)
    adjudicate.decide_labels(store, unit_of(store), labels_of("1111", base=1), codebook=CODEBOOK)
    second = json.loads(export.adjudicated_lines(store)[0])
    assert second["annotation"]["replaces"] == first["digests"]["annotation"]


def test_labelling_is_not_opened_again_after_a_decision(store, labels_of):
    both(store, labels_of, "1110", "1111")
    adjudicate.close(store)
    adjudicate.reopen(store)
    adjudicate.close(store)
    adjudicate.decide_labels(store, unit_of(store), labels_of("1110"), codebook=CODEBOOK)
    with pytest.raises(Refused, match="independence"):
        adjudicate.reopen(store)


def test_agreement_counts_unknown_as_missing_and_as_a_value(store, study, labels_of):
    both(store, labels_of, "1110", "11U0")
    rows = {(row["field"], row["unknown"]): row for row in figures.agreement(store, study.settings, resamples=10)}
    assert rows["M", "missing"]["judgements"] == 1
    assert rows["M", "missing"]["alpha"] is None
    assert rows["M", "missing"]["reason"] == "no unit has two raters"
    assert rows["M", "value"]["judgements"] == 2
    assert rows["M", "value"]["alpha"] == 0.0


def test_nominal_alpha_of_labels_is_krippendorffs(make_audit, labels_of):
    """The reliability data of Krippendorff (2011), section A: binary, two observers, ten units, alpha = 0.095."""
    study = make_audit(tuples=10)
    store = Store(study.database)
    observers = {"anna": (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), "ben": (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)}
    for name, values in observers.items():
        for position in range(1, 11):
            page = label.tuple_page(store, name, position)
            value = values[int(page.whole["tuple_id"].removeprefix("tuple-")) - 1]
            save(store, labels_of(f"{value}110"), name, position)
    rows = {(row["field"], row["unknown"]): row for row in figures.agreement(store, study.settings, resamples=50)}
    assert rows["I", "missing"]["alpha"] == pytest.approx(0.095, abs=5e-4)
    assert rows["A", "missing"]["reason"] == "every rating is 1"


def test_an_audit_page_reaches_the_browser_and_takes_labels(study, client_of, labels_of, made):
    client = client_of(study, "anna")
    page = client.get("/item/1").text
    assert "Does the source have a relationship" in page
    headers = {"x-csrf-token": made.csrf(page), "accept": "application/json"}
    answer = client.post("/item/1", json=labels_of("1110").model_dump(), headers=headers)
    assert answer.json()["next"] == "/item/2"
    rejected = client.post("/item/2", json=labels_of("1110", evidence={}).model_dump(), headers=headers)
    assert rejected.status_code == 422
    assert len(rejected.json()["defects"]) == 4
    assert client.post("/item/2", json={"judgements": 1}, headers=headers).status_code == 400
    assert client.post("/undo", data={"csrf": made.csrf(page)}).status_code == 400
    assert judge.progress(Store(study.database), "anna").done == 1
