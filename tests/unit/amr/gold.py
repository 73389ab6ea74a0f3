"""Gold graphs and scores of FAITHFUSE_DATA, for the tests of this folder."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from faithfuse.amr.files import Entry, read_amr_file


def data(*parts: str) -> Path:
    """A path under FAITHFUSE_DATA; the test is skipped without it."""
    root = os.environ.get("FAITHFUSE_DATA")
    if not root:
        pytest.skip("FAITHFUSE_DATA is not set: no gold graphs")
    return Path(root).joinpath(*parts)


def little_prince() -> list[Entry]:
    """The 1,562 sentences of version 3.0, in the order of their ids."""
    return read_amr_file(data("amr", "little_prince", "amr-bank-struct-v3.0.txt"))


def scored_pairs() -> list[tuple[dict[str, str], str, str]]:
    """(the row of reference_scores.tsv, left graph, right graph): 2,657 pairs scored by smatch 1.0.4."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    gold = data("smatch_gold")
    for name, left, right in (
        ("smatch_test_inputs", gold / "smatch/test_input1.txt", gold / "smatch/test_input2.txt"),
        ("amr_metric_suite_examples", gold / "amr_metric_suite/a.txt", gold / "amr_metric_suite/b.txt"),
        *(
            (f"bamboo_{part}_dev", *(data("amr", "bamboo", part, "main", f"{side}.dev.amr") for side in ("src", "tgt")))
            for part in ("sts", "sick", "para")
        ),
    ):
        both = (graphs_even_if_malformed(left), graphs_even_if_malformed(right))
        pairs[name] = list(zip(*both, strict=True))
    new = {entry.metadata["id"]: entry.graph for entry in little_prince()}
    old = read_amr_file(data("amr", "little_prince", "amr-bank-struct-v1.6-test.txt"))
    pairs["lpp_v1.6test_vs_v3.0"] = [(entry.graph, new[entry.metadata["id"]]) for entry in old]
    with (gold / "reference_scores.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    seen: dict[str, int] = {}
    result = []
    for row in rows:
        at = seen.get(row["set"], 0)
        seen[row["set"]] = at + 1
        result.append((row, *pairs[row["set"]][at]))
    return result


def graphs_even_if_malformed(path: Path) -> list[str]:
    """The graphs of a file, each on one line, unchecked."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    graphs = (" ".join(line.strip() for line in b.splitlines() if not line.startswith("#")).strip() for b in blocks)
    return [graph for graph in graphs if graph]
