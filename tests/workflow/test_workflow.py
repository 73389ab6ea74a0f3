"""The whole workflow on a handful of items: every table comes out, twice the same, and bad input harms nothing."""

from __future__ import annotations

import csv
import json
import os
import subprocess

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.models]

DOMAINS = ("short_form_qa", "long_form_qa", "conversational_qa", "summarisation")


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_of_both_papers_is_there(finished):
    for number in range(1, 6):
        assert rows(finished.result(f"tables/table_{number}.csv"))
    for name in ("states", "baselines", "ablations", "coverage", "transitions", "support", "mutations"):
        assert rows(finished.result(f"audit/{name}.csv")), name
    assert finished.result("report.html").stat().st_size > 10_000


def test_every_row_of_the_papers_tables_stands_in_ours(finished, repository):
    published = rows(repository / "config" / "reference" / "paper_tables.csv")
    for number, roman in enumerate(("I", "II", "III"), start=1):
        ours = {row["metric"] for row in rows(finished.result(f"tables/table_{number}.csv"))}
        theirs = {row["metric"] for row in published if row["table"] == roman}
        assert theirs <= ours


def test_every_table_made_from_the_sample_says_what_its_ratings_are(finished):
    for number in range(1, 6):
        for row in rows(finished.result(f"tables/table_{number}.csv")):
            assert "no evidence about any metric" in row["note"]
    assert "no evidence about any metric" in finished.result("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("domain", DOMAINS)
def test_generated_responses_get_metrics_and_fused_scores_but_no_correlation(finished, domain):
    generated = [json.loads(line) for line in finished.result(f"responses/{domain}.jsonl").open(encoding="utf-8")]
    keys = {(row["item_id"], row["system"]) for row in generated}
    assert len(keys) == 14
    assert {row["origin"] for row in generated} == {"generated"}
    for table in ("metrics", "scores"):
        found = {(row["item_id"], row["system"]) for row in rows(finished.result(f"{table}/{domain}.csv"))}
        assert keys <= found
    likert = [row for row in rows(finished.result(f"correlations/{domain}.csv")) if row["human"] == "likert"]
    assert {int(row["pairs"]) + int(row["unscored"]) for row in likert if not row["reason"]} == {28}


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_not_scored_has_a_reason(finished, domain):
    table = rows(finished.result(f"metrics/{domain}.csv"))
    empty = {(row["item_id"], row["system"], name) for row in table for name, value in row.items() if value == ""}
    reasons = rows(finished.result(f"metrics/{domain}.csv.unscored.csv"))
    assert {(row["item_id"], row["system"], row["metric"]) for row in reasons} == empty
    assert all(row["reason"] for row in reasons)


def test_sha256sum_accepts_the_manifest_and_it_covers_every_table(finished):
    done = subprocess.run(
        ["sha256sum", "--quiet", "-c", "results/manifest.sha256"], cwd=finished.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    listed = {line.split("  ", 1)[1] for line in finished.result("manifest.sha256").read_text().splitlines()}
    for folder in ("tables", "audit", "figures", "notebooks", "fusion"):
        for path in finished.result(folder).rglob("*.*"):
            assert path.relative_to(finished.folder).as_posix() in listed


def test_a_repeat_has_nothing_to_do(finished):
    done = finished.snakemake()
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout


def test_two_clones_give_the_same_bytes_and_one_run_id(finished, make_clone, elsewhere, tmp_path):
    # Another folder, user, home, locale and time zone, one core instead of two, and no network.
    other = make_clone("other")
    surroundings = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": str(tmp_path), "USER": "somebody", "LOGNAME": "somebody"}
    done = other.snakemake("--cores", "1", within=elsewhere, **surroundings)
    assert done.returncode == 0, done.stdout[-6000:]
    ours = finished.result("manifest.sha256").read_text().splitlines()
    theirs = other.result("manifest.sha256").read_text().splitlines()
    assert [a for a, b in zip(ours, theirs, strict=True) if a != b] == []
    here, there = (json.loads(clone.result("manifest.json").read_text()) for clone in (finished, other))
    assert here["run_id"] == there["run_id"] == finished.result("run_id.txt").read_text().strip()
    assert here["run_id"] in finished.result("report.html").read_text(encoding="utf-8")
    assert here["reproducible"] == there["reproducible"]
    assert here["host"]["time_zone"] != there["host"]["time_zone"]
    # Where they ran stays out of what they share.
    for clone, record in ((finished, here), (other, there)):
        assert str(clone.folder) not in json.dumps(record["reproducible"])
    compared = other.faithfuse("manifest", "diff", str(finished.result("")), "results")
    assert compared.returncode == 0, compared.stdout
    assert "The same run" in compared.stdout


def test_the_manifest_verifies_and_names_what_was_touched(finished):
    done = finished.faithfuse("manifest", "verify")
    assert done.returncode == 0, done.stdout
    path = finished.result("tables/table_1.csv")
    good, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(good + b" ")
        done = finished.faithfuse("manifest", "verify")
    finally:
        path.write_bytes(good)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert done.returncode == 1
    assert "changed: results/tables/table_1.csv" in done.stdout


def test_a_dry_run_of_a_clone_lists_every_stage(make_clone):
    done = make_clone("dry").snakemake("--dry-run")
    assert done.returncode == 0, done.stdout[-3000:]
    for stage in ("items", "respond", "judge", "parse", "metrics", "correlate", "fuse", "score", "make_tables"):
        assert f"rule {stage}" in done.stdout or f"{stage} " in done.stdout, stage


def test_the_papers_own_study_is_planned_from_the_original_sets_to_the_tables(make_clone):
    done = make_clone("paper").snakemake("--dry-run", "--configfile", "config/paper.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    for stage in ("load_source", "unify", "respond", "judge", "make_tables"):
        assert f"rule {stage}" in done.stdout or f"{stage} " in done.stdout, stage


def test_a_configuration_without_a_note_gives_an_empty_one(make_clone):
    clone = make_clone("unnoted")
    with (clone.folder / "config" / "small.yaml").open("a") as stream:
        stream.write('note: ""\n')
    done = clone.snakemake("--dry-run", "--printshellcmds")
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stdout.count("--note= --out") == 5  # four fusions and the tables


def test_snakemakes_own_report_builds(finished, tmp_path):
    done = finished.snakemake("--report", str(tmp_path / "snakemake.html"))
    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "snakemake.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("ratings.jsonl", lambda line: line | {"likert": 7}, "ratings.jsonl:1"),
        ("responses.jsonl", lambda line: line | {"text": " "}, "responses.jsonl:1"),
        ("items.jsonl", lambda line: line | {"domain": "poetry"}, "items.jsonl:1"),
        ("items.jsonl", lambda line: {k: v for k, v in line.items() if k != "group"}, "items.jsonl:1"),
    ],
)
def test_bad_input_stops_the_run_and_leaves_earlier_results(finished, file, change, said):
    path = finished.folder / "config" / "sample" / file
    good, times = path.read_bytes(), path.stat()
    kept = [*finished.result("tables").iterdir(), *finished.result("items").rglob("*.jsonl")]
    earlier = {path: path.read_bytes() for path in kept}
    first, rest = good.split(b"\n", 1)
    try:
        path.write_bytes(json.dumps(change(json.loads(first)), ensure_ascii=False).encode() + b"\n" + rest)
        done = finished.snakemake()
    finally:
        path.write_bytes(good)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert done.returncode == 1
    assert said in done.stdout
    assert {path: path.read_bytes() for path in earlier} == earlier


def test_an_unknown_key_of_the_configuration_is_named(make_clone):
    clone = make_clone("misconfigured")
    with (clone.folder / "config" / "small.yaml").open("a") as stream:
        stream.write("fusoin: {seeds: 3}\n")
    done = clone.snakemake("--dry-run")
    assert done.returncode != 0
    assert "fusoin: Extra inputs are not permitted" in done.stdout
