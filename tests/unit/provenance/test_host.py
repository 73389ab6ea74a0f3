"""Host facts name processor and times, and no person, machine or token."""

from __future__ import annotations

import getpass
import json
import socket
from pathlib import Path

from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.provenance.host import arithmetic, describe_host, timings
from faithfuse.provenance.record import make_record


def described(tmp_path, **more):
    return describe_host(**({"metas": [], "benchmarks": tmp_path, "folders": {}} | more))


def test_they_say_what_arithmetic_depends_on(tmp_path):
    facts = described(tmp_path)
    for name in ("system", "machine", "processor", "simd", "cores", "python", "torch", "time_zone", "written"):
        assert name in facts


def test_they_name_neither_user_nor_host(tmp_path):
    text = json.dumps(described(tmp_path))
    for name in (socket.gethostname(), getpass.getuser(), str(Path.home())):
        # A short name such as `vm` can be part of a word.
        assert len(name) < 6 or name not in text


def test_seconds_and_memory_of_jobs_are_read_from_snakemakes_benchmarks(tmp_path):
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge" / "one.tsv").write_text("s\th:m:s\tmax_rss\n1.5\t0:00:01\t20.25\n")
    (tmp_path / "two.tsv").write_text("s\th:m:s\tmax_rss\n0.1\t0:00:00\tNA\n")
    (tmp_path / "other.tsv").write_text("no benchmark\n")
    assert timings(tmp_path) == {
        "judge/one": {"seconds": 1.5, "max_rss_mib": 20.25},
        "two": {"seconds": 0.1, "max_rss_mib": None},
    }


def test_each_kind_of_arithmetic_is_named_once(tmp_path):
    for name, threads in (("a", 1), ("b", 1), ("c", 2)):
        content = {"model": {"device": "cpu", "threads": threads, "weights": "x"}}
        (tmp_path / f"{name}.meta.json").write_text(json.dumps(content))
    (tmp_path / "d.meta.json").write_text("[]")
    found = arithmetic(sorted(tmp_path.glob("*.meta.json")))
    assert found == [{"device": "cpu", "threads": 1}, {"device": "cpu", "threads": 2}]


def test_a_token_among_host_facts_is_removed(make_run):
    run = make_run("one", host={"locale": "hf_thisIsNoRealToken123"})
    assert run.record.host["locale"] == "[removed]"
    assert make_record(run.record.reproducible, [], {"x": "hf_thisIsNoRealToken123"}).host == {"x": "[removed]"}


def test_an_option_that_is_no_pair_says_so(make_run):
    make_run("one")
    done = CliRunner().invoke(
        app, ["manifest", "identify", "results/run.json", "--run", "results/run.json", "--input", "x", "--out", "id"]
    )
    assert "'x' is not NAME=PATH" in str(done.exception)


def test_a_run_whose_files_changed_since_its_id_was_taken_is_not_recorded(make_run):
    run = make_run("one")
    before = (run.results / "manifest.json").read_bytes()
    options = ["--run", "results/run.json", "--model", "tiny=.models/tiny", "--identity", "results/run_id.txt"]
    done = CliRunner().invoke(
        app, ["manifest", "record", "results/tables/table_1.csv", *options, "--out", "results/manifest.json"]
    )
    assert "holds another run id" in str(done.exception)
    assert (run.results / "manifest.json").read_bytes() == before
