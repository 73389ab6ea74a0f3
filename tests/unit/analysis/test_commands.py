"""The command line, from two CSV files to a fused score."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from faithfuse.analysis import commands
from faithfuse.analysis.columns import CORRELATION_COLUMNS
from faithfuse.analysis.model import read_model
from faithfuse.errors import FaithfuseError, InputError

REFERENCE = Path(__file__).parents[3] / "config" / "reference" / "paper_tables.csv"


@pytest.fixture
def run():
    app = typer.Typer(pretty_exceptions_enable=False)
    commands.register(app)

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result

    return call


def _read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_two_csv_files_become_a_fused_metric_with_intervals(planted, run, tmp_path):
    files = planted(rows=60)
    run("correlate", files.metrics, files.ratings, "--out", tmp_path / "c.csv")
    rows = _read(tmp_path / "c.csv")
    assert tuple(rows[0]) == CORRELATION_COLUMNS
    assert {row["domain"] for row in rows} == {"short_form_qa"}
    run("fuse", files.metrics, files.ratings, "--out", tmp_path / "m", "--seeds", 1)
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == [
        "blind.csv",
        "card.md",
        "evaluation.csv",
        "explanations.csv",
        "importances.csv",
        "model.json",
        "splits.csv",
    ]
    card = (tmp_path / "m" / "card.md").read_text()
    fused = next(row for row in _read(tmp_path / "m" / "evaluation.csv") if row["system"] == "fused")
    assert f"fused: {float(fused['value']):.3f} ({float(fused['low']):.3f} to {float(fused['high']):.3f})" in card
    assert "`ROUGE-1|v1`" in card
    run("score", files.metrics, "--model", tmp_path / "m", "--out", tmp_path / "s.csv")
    scores = {row["item_id"]: row["fused"] for row in _read(tmp_path / "s.csv")}
    assert len(scores) == 60
    for row in _read(tmp_path / "m" / "blind.csv"):
        assert float(scores[row["item_id"]]) == pytest.approx(float(row["fused"]))
    run(
        "tables", "--correlations", tmp_path / "c.csv", "--fusion", tmp_path / "m",
        "--reference", REFERENCE, "--out", tmp_path / "t", "--note", "a test",
    )  # fmt: skip
    assert len(list((tmp_path / "t").iterdir())) == 5


def test_the_same_command_gives_the_same_bytes(planted, run, tmp_path):
    files = planted(rows=40)
    for name in ("a", "b"):
        run("correlate", files.metrics, files.ratings, "--out", tmp_path / name / "c.csv")
        run("fuse", files.metrics, files.ratings, "--out", tmp_path / name, "--seeds", 1)
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_bootstrap_intervals_follow_the_seed_and_the_jackknife_does_not(planted, run, tmp_path):
    files = planted(rows=40)

    def written(*options):
        run("correlate", files.metrics, files.ratings, "--out", tmp_path / "c.csv", *options)
        return (tmp_path / "c.csv").read_bytes()

    plain = written()
    drawn = written("--interval", "bootstrap", "--resamples", 100, "--seed", 1)
    assert plain == written("--interval", "jackknife", "--resamples", 100, "--seed", 1)
    assert drawn == written("--interval", "bootstrap", "--resamples", 100, "--seed", 1)
    assert drawn != written("--interval", "bootstrap", "--resamples", 100, "--seed", 2)
    assert drawn.splitlines()[0] == plain.splitlines()[0]
    assert drawn.count(b"\n") == plain.count(b"\n")
    with pytest.raises(AssertionError, match="'normal' is not one of"):
        written("--interval", "normal")


def test_agreement_is_printed_or_written(planted, run, tmp_path):
    files = planted(rows=30, raters=3)
    printed = run("agreement", files.ratings, "--resamples", 50).stdout
    run("agreement", files.ratings, "--resamples", 50, "--out", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == printed
    assert float(_read(tmp_path / "a.csv")[0]["alpha"]) > 0.7


def test_a_failure_leaves_the_previous_output_in_place(planted, run, tmp_path):
    files = planted(rows=30)
    out = tmp_path / "c.csv"
    out.write_text("before")
    files.ratings.write_text(files.ratings.read_text() + "q0000,s,z,,7\n")
    with pytest.raises(InputError, match=r"RATINGS\.csv:32 \(q0000 s\): rating 7 is outside 1–5"):
        run("correlate", files.metrics, files.ratings, "--out", out)
    assert out.read_text() == "before"


def test_ratings_of_responses_that_have_no_metrics_are_reported(planted, run, tmp_path):
    files = planted(rows=30)
    files.ratings.write_text(files.ratings.read_text() + "elsewhere,s,r0,,4\n")
    result = run("correlate", files.metrics, files.ratings, "--out", tmp_path / "c.csv")
    assert "1 rated responses" in result.stderr


def test_nothing_is_fitted_on_a_set_that_is_for_evaluation_only(planted, run, tmp_path):
    own = planted(rows=40)
    run("fuse", own.metrics, own.ratings, "--out", tmp_path / "own", "--seeds", 1)
    tofueval = planted(rows=40, folder="tofueval")
    for path in (tofueval.metrics, tofueval.ratings):
        path.write_text(path.read_text().replace("\nq0001,", "\ntofueval:q0001,"))
    for command in ("fuse", "validate"):
        with pytest.raises(InputError, match="tofueval:q0001: is of TofuEval, which is for evaluation only"):
            run(command, tofueval.metrics, tofueval.ratings, "--out", tmp_path / command)
        assert not (tmp_path / command).exists()
    run("correlate", tofueval.metrics, tofueval.ratings, "--out", tmp_path / "c.csv")
    run("score", tofueval.metrics, "--model", tmp_path / "own", "--out", tmp_path / "s.csv")
    run("transfer", tofueval.metrics, tofueval.ratings, "--model", tmp_path / "own", "--out", tmp_path / "t.csv")


def test_pairs_of_metrics_are_added_when_asked_for(planted, run, tmp_path):
    files = planted(rows=60)
    run(
        "fuse", files.metrics, files.ratings, "--out", tmp_path / "m", "--seeds", 1, "--interactions", 2,
    )  # fmt: skip
    assert sum(len(term.metrics) == 2 for term in read_model(tmp_path / "m").terms) == 2
    run(
        "validate", files.metrics, files.ratings, "--out", tmp_path / "v", "--repeats", 1,
        "--folds", 2, "--curve-seeds", 1,
    )  # fmt: skip
    assert {row["scheme"] for row in _read(tmp_path / "v" / "validation.csv")} == {"grouped_cv"}
    assert len(_read(tmp_path / "v" / "learning_curve.csv")) > 6
    run("transfer", files.metrics, files.ratings, "--model", tmp_path / "m", "--out", tmp_path / "t.csv")
    assert _read(tmp_path / "t.csv")[0]["system"] == "fused"
    run(
        "explain", files.metrics, "--model", tmp_path / "m", "--item", "q0000", "--system", "s",
        "--out", tmp_path / "e.svg",
    )  # fmt: skip
    assert (tmp_path / "e.svg").stat().st_size > 1000


def test_unknown_settings_are_refused(planted, run, tmp_path):
    files = planted(rows=30)
    with pytest.raises(FaithfuseError, match="Use small or library"):
        run("fuse", files.metrics, files.ratings, "--out", tmp_path / "m", "--ebm", "huge")
