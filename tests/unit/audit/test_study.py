"""The study tools of section V, on known values and on labels that are constructed and called that."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from faithfuse.audit.study.agreement import agreement, alpha, read_labels, value_counts
from faithfuse.audit.study.evaluation import evaluate, read_pair
from faithfuse.audit.study.example import NOTICE, write_example
from faithfuse.audit.study.paired import SHARES, compare, read_pairs, warnings_of
from faithfuse.audit.study.release import check_release
from faithfuse.audit.study.sampling import read_frame, stratified_sample
from faithfuse.audit.study.split import KEYS, components, grouped_split, leaks, read_keys
from faithfuse.audit.study.tables import cluster_interval
from faithfuse.cli import app
from faithfuse.errors import InputError


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    write_example(folder)
    return folder


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def labels(tmp_path: Path, **annotators: str) -> list[dict[str, str]]:
    """One tuple a symbol, the same label for all four predicates; `.` for not labelled."""
    lines = ["tuple_id,annotator,I,A,M,D"]
    for who, symbols in annotators.items():
        for number, symbol in enumerate(symbols):
            cell = "" if symbol == "." else symbol
            lines.append(f"t{number:02d},{who}," + ",".join([cell] * 4))
    return read_labels(write(tmp_path / "labels.csv", "\n".join(lines) + "\n"))


# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): sections A (binary, two observers, no missing
# data, alpha 0.095) and C (nominal, several observers, missing data; the widely used table with alpha 0.691).


def test_alpha_of_krippendorffs_binary_example(tmp_path):
    rows = labels(tmp_path, a="0100000010", b="1110010000")
    found, reason = alpha(value_counts(rows, "I", ("1", "0")))
    assert round(found, 3) == 0.095
    assert reason is None


def test_alpha_of_krippendorffs_nominal_example_with_missing_data():
    table = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]
    counts = np.zeros((15, 4), dtype=int)
    for observer in table:
        for unit, value in enumerate(observer):
            if value != "*":
                counts[unit, int(value) - 1] += 1
    assert round(alpha(counts)[0], 3) == 0.691


def test_unresolved_counts_as_a_value_and_as_missing(tmp_path):
    # They agree wherever both resolve, and never on what is unresolved.
    rows = labels(tmp_path, a="1100U1U0", b="110U0100"[:8])
    table = {row["unresolved_as"]: row for row in agreement(rows, resamples=100) if row["predicate"] == "I"}
    assert table["missing"]["alpha"] == 1
    assert table["missing"]["pairable"] == 5
    assert table["value"]["alpha"] < 0.7


def test_alpha_is_null_with_a_reason_where_it_is_undefined(tmp_path):
    same = agreement(labels(tmp_path, a="1111", b="1111"), resamples=100)
    assert {row["reason"] for row in same} == {"all labels are equal"}
    alone = agreement(labels(tmp_path, a="10..", b="..10"), resamples=100)
    assert {(row["alpha"], row["reason"]) for row in alone} == {(None, "no tuple has two labels")}


def test_labels_are_1_0_or_u(tmp_path):
    with pytest.raises(InputError, match="'2' for I"):
        labels(tmp_path, a="2", b="1")
    with pytest.raises(InputError, match="fewer than two"):
        labels(tmp_path, a="10")


def test_a_bigger_sample_gives_a_narrower_interval(tmp_path):
    def width(times: int) -> float:
        rows = labels(tmp_path, a="10101100" * times, b="10101001" * times)
        row = agreement(rows, resamples=300)[0]
        assert row["low"] <= row["alpha"] <= row["high"]
        return row["high"] - row["low"]

    assert width(10) < width(2)


def test_a_sample_takes_the_same_number_from_every_stratum(example):
    frame = read_frame(example / "constructed_frame.csv")
    sample = stratified_sample(frame, per_stratum=4, cuts=[0.33, 0.67], seed=3)
    sizes: dict[tuple, int] = {}
    for row in sample:
        sizes[row["domain"], row["band"]] = sizes.get((row["domain"], row["band"]), 0) + 1
        assert row["stratum_sampled"] == min(4, row["stratum_size"])
    assert len(sizes) == 12
    assert all(size == 4 or size < 4 for size in sizes.values())
    assert sum(row["weight"] for row in sample) == pytest.approx(len(frame))


def test_a_sample_does_not_depend_on_the_order_of_the_frame(example):
    frame = read_frame(example / "constructed_frame.csv")
    assert stratified_sample(frame, per_stratum=3, cuts=[0.5], seed=1) == stratified_sample(
        frame[::-1], per_stratum=3, cuts=[0.5], seed=1
    )


@pytest.mark.parametrize("cuts", [[0.7, 0.3], [0], [1], [0.5, 0.5]])
def test_bands_are_ascending_and_inside_the_range(example, cuts):
    with pytest.raises(InputError):
        stratified_sample(read_frame(example / "constructed_frame.csv"), per_stratum=1, cuts=cuts, seed=0)


keyed = st.lists(
    st.tuples(*[st.sampled_from(["", "a", "b", "c", "d", "e", "f", "g", "h"]) for _ in KEYS]), min_size=2, max_size=12
).map(lambda rows: [{"tuple_id": f"t{i:02d}"} | dict(zip(KEYS, row, strict=True)) for i, row in enumerate(rows)])


@settings(max_examples=150, deadline=None)
@given(keyed, st.floats(0.1, 0.9), st.integers(0, 5))
def test_no_key_ever_stands_on_both_sides(rows, share, seed):
    try:
        table = grouped_split(rows, held_out=share, seed=seed)
    except InputError:
        assert len(set(components(rows))) == 1
        return
    assert leaks(table) == []
    assert {row["side"] for row in table} == {"held_out", "development"}


def test_a_chain_of_shared_keys_is_one_component():
    rows = [
        {"tuple_id": "1", "target_family": "f", "related_domain": "", "query_template": "x"},
        {"tuple_id": "2", "target_family": "f", "related_domain": "d", "query_template": ""},
        {"tuple_id": "3", "target_family": "g", "related_domain": "d", "query_template": ""},
        {"tuple_id": "4", "target_family": "", "related_domain": "", "query_template": ""},
    ]
    assert components(rows) == [0, 0, 0, 1]


def test_a_leak_is_named():
    rows = [{"side": "held_out"} | dict.fromkeys(KEYS, "x"), {"side": "development"} | dict.fromkeys(KEYS, "x")]
    assert leaks(rows) == sorted((key, "x") for key in KEYS)


def test_the_split_of_the_example_is_near_its_share(example):
    table = grouped_split(read_keys(example / "constructed_keys.csv"), held_out=0.3, seed=0)
    assert 0.2 <= sum(row["side"] == "held_out" for row in table) / len(table) <= 0.4


def measures(gold, said, domains=None):
    codes = {"1": 1, "0": 0, "U": -1}
    gold, said = (
        np.array([[codes[symbol] for symbol in state] for state in states], dtype=np.int8) for states in (gold, said)
    )
    domains = domains or [str(index) for index in range(len(gold))]
    return {(row["target"], row["measure"]): row for row in evaluate(domains, gold, said, resamples=100)}


def test_errors_are_counted_among_what_both_sides_resolve():
    found = measures(["1110", "0000", "1U11", "1111"], ["1110", "1000", "1111", "U011"])
    error = found["I", "error"]
    assert (error["count"], error["of"], error["value"]) == (1, 3, 1 / 3)
    assert found["I", "false_positive"]["value"] == 1
    assert found["I", "predicted_unresolved"]["value"] == 0.25
    assert found["A", "resolved_without_reference"]["value"] == 1
    assert found["A", "reference_unresolved"]["value"] == 0.25
    assert (found["RO", "error"]["count"], found["RO", "error"]["of"]) == (0, 2)
    assert found["RO", "predicted_unresolved"]["count"] == 1


def test_a_measure_without_cases_is_null_with_a_reason():
    row = measures(["1110", "1110"], ["1110", "1110"])["I", "false_positive"]
    assert (row["value"], row["reason"]) == (None, "nothing to count among")


def test_clustered_intervals_are_wider_than_intervals_over_tuples():
    rng = np.random.default_rng(0)
    # Errors come in whole domains.
    wrong = np.repeat(rng.random(12) < 0.3, 20)
    gold = np.ones((240, 4), dtype=np.int8)
    said = np.where(wrong[:, None], 0, 1).astype(np.int8).repeat(4, axis=1)
    domains = np.repeat(np.arange(12), 20).astype(str).tolist()
    clustered = evaluate(domains, gold, said, resamples=500)[0]
    single = evaluate([str(i) for i in range(240)], gold, said, resamples=500)[0]
    assert clustered["high"] - clustered["low"] > 2 * (single["high"] - single["low"])


def test_the_cluster_interval_of_a_mean_is_near_the_textbook_one():
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    names = [str(index) for index in range(400)]
    low, high, _ = cluster_interval(names, lambda w: float((w * values).sum() / w.sum()), resamples=4000, seed=0)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.015)
    assert high == pytest.approx(values.mean() + half, abs=0.015)


def test_reference_and_prediction_must_hold_the_same_tuples(tmp_path):
    gold = write(tmp_path / "gold.csv", "tuple_id,domain,I,A,M,D\nx,d,1,1,1,0\n")
    said = write(tmp_path / "said.csv", "tuple_id,I,A,M,D\ny,1,1,1,0\n")
    with pytest.raises(InputError, match="other tuples"):
        read_pair(gold, said)


def pairs_file(tmp_path, rows, settings_after="s"):
    header = ["pair_id", "domain", "settings_before", "settings_after"]
    header += [f"{name}_{side}" for name in (*SHARES, "latency_seconds") for side in ("before", "after")]
    with (tmp_path / "pairs.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, header, restval="1")
        writer.writeheader()
        for number, row in enumerate(rows):
            settings = {"settings_before": "s", "settings_after": settings_after}
            writer.writerow({"pair_id": number, "domain": f"d{number % 3}"} | settings | row)
    return tmp_path / "pairs.csv"


def test_paired_differences_and_the_exact_mcnemar_test(tmp_path):
    changes = [("1", "0")] * 8 + [("0", "1")] * 2 + [("1", "1")] * 5 + [("U", "1")] * 3
    rows = [{"omission_before": before, "omission_after": after} for before, after in changes]
    table = {row["measure"]: row for row in compare(read_pairs(pairs_file(tmp_path, rows)), resamples=200)}
    row = table["omission"]
    assert (row["pairs"], row["unscored"], row["gained"], row["lost"]) == (15, 3, 2, 8)
    assert row["difference"] == pytest.approx(-6 / 15)
    # Two-sided sign test of 2 against 8: 2 * (1 + 10 + 45) / 1024.
    assert row["p_value"] == pytest.approx(112 / 1024)
    assert table["supported"]["p_value"] == 1


def test_pairs_with_other_settings_are_no_pairs(tmp_path):
    with pytest.raises(InputError, match="settings within a pair"):
        read_pairs(pairs_file(tmp_path, [{}], settings_after="other"))


def test_fewer_omissions_bought_with_abstention_get_a_warning(tmp_path):
    rows = [{"omission_before": "1", "omission_after": "0", "abstained_before": "0", "abstained_after": "1"}] * 4
    found = warnings_of(compare(read_pairs(pairs_file(tmp_path, rows)), resamples=200))
    assert len(found) == 1
    assert "abstained" in found[0]


def test_a_complete_release_holds(example):
    assert all(row["holds"] for row in check_release(example / "release"))


def test_a_missing_document_and_an_undeclared_redaction_are_found(tmp_path):
    write_example(tmp_path)
    folder = tmp_path / "release"
    (folder / "adjudication.md").unlink()
    write(folder / "release.yaml", (folder / "release.yaml").read_text("utf-8").replace("removed: 3", "removed: 0"))
    failing = {row["check"]: row["found"] for row in check_release(folder) if not row["holds"]}
    assert failing == {
        "adjudication": "adjudication.md is missing or empty",
        "redaction_declared": "3 of 80 tuples removed, 0 declared",
    }
    done = CliRunner().invoke(app, ["audit", "study", "release", str(folder), "--out", str(tmp_path / "r.csv")])
    assert done.exit_code == 1


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_document_is_no_document(tmp_path, content):
    write_example(tmp_path)
    write(tmp_path / "release" / "exclusions.md", content)
    failing = [row["check"] for row in check_release(tmp_path / "release") if not row["holds"]]
    assert failing == ["exclusions"]


def test_tuples_added_by_a_release_are_found(tmp_path):
    write_example(tmp_path)
    with (tmp_path / "release" / "released_sample.csv").open("a") as stream:
        stream.write("constructed-900,travel,0\n")
    failing = [row["check"] for row in check_release(tmp_path / "release") if not row["holds"]]
    assert failing == ["nothing_added"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [("removed: 3", "removed: three", "declared_removed 'three'"), ("declared_removed: 3", "", "another form")],
)
def test_a_release_that_does_not_say_what_it_removed_is_refused(tmp_path, before, after, message):
    write_example(tmp_path)
    path = tmp_path / "release" / "release.yaml"
    write(path, path.read_text("utf-8").replace(before, after))
    with pytest.raises(InputError, match=message):
        check_release(tmp_path / "release")


def test_the_line_of_a_wrong_cell_counts_blank_lines_and_lines_within_cells(tmp_path):
    path = write(tmp_path / "f.csv", 'tuple_id,domain,dQ\n\n"a\nb",d,0.5\nc,d,7\n')
    with pytest.raises(InputError, match=r"f.csv:5: has dQ '7'"):
        read_frame(path)
    path = write(tmp_path / "l.csv", "tuple_id,annotator,I,A,M,D\n\nt,a,1,1,1,x\n")
    with pytest.raises(InputError, match=r"l.csv:3: has 'x' for D"):
        read_labels(path)


def test_a_table_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no row"):
        read_frame(write(tmp_path / "f.csv", "tuple_id,domain,dQ\n"))


def test_a_relabelled_sample_is_found(tmp_path):
    write_example(tmp_path)
    folder = tmp_path / "release"
    text = (folder / "released_sample.csv").read_text("utf-8").splitlines()
    text[1] = text[1][:-1] + {"1": "0", "0": "1", "U": "1"}[text[1][-1]]
    write(folder / "released_sample.csv", "\n".join(text) + "\n")
    assert {row["check"] for row in check_release(folder) if not row["holds"]} == {"nothing_relabelled"}


def test_the_example_says_that_it_is_constructed_and_is_the_same_each_time(example, tmp_path):
    assert (example / "README.md").read_text("utf-8") == NOTICE
    for path in write_example(tmp_path):
        assert path.read_bytes() == (example / path.relative_to(tmp_path)).read_bytes()
    assert all(
        "constructed" in path.name or "constructed" in path.read_text("utf-8").lower()
        for path in example.rglob("*")
        if path.is_file()
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["agreement", "constructed_labels.csv", "--resamples", "100"],
        ["sample", "constructed_frame.csv", "--per-stratum", "4", "--cuts", "0.33,0.67"],
        ["split", "constructed_keys.csv"],
        ["evaluate", "constructed_reference.csv", "constructed_predicted.csv", "--resamples", "100"],
        ["paired", "constructed_pairs.csv", "--resamples", "100"],
        ["release", "release"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_runs_on_the_example_and_repeats_its_bytes(example, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(example)
    for name in ("one.csv", "two.csv"):
        done = CliRunner().invoke(app, ["audit", "study", *arguments, "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.exception
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
