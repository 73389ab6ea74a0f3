"""The worked example of docs/judge.md is right: its numbers are computed anew from its own table."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from faithfuse.llm.judge import confidence, expected_likert

PAGE = (Path(__file__).parents[3] / "docs/judge.md").read_text(encoding="utf-8").replace("−", "-")


def test_the_confidence_example_adds_up():
    rows = re.findall(r"^\| `(Factual|Not-Factual)` \|(.*)\|$", PAGE, re.MULTILINE)
    assert [label for label, _ in rows] == ["Factual", "Not-Factual"]
    totals = []
    for _, cells in rows:
        *parts, total, probability = [re.findall(r"-?\d+\.\d+", cell) for cell in cells.split("|")]
        # first token, further tokens, end of turn: together the whole label
        assert math.fsum(float(x) for part in parts for x in part) == pytest.approx(float(total[0]), abs=1e-9)
        assert math.exp(float(total[0])) == pytest.approx(float(probability[0]), abs=5e-5)
        totals.append(float(total[0]))
    stated = [float(value) for value in re.search(r"\*\*Confidence = ([\d.]+)\*\*", PAGE).groups()]
    assert confidence(*totals) == pytest.approx(stated[0], abs=0.005)
    assert confidence(*reversed(totals)) == pytest.approx(1 - stated[0], abs=0.005)
    mass = float(re.search(r"`label_mass` is [\d.]+ \+ [\d.]+ = ([\d.]+)", PAGE)[1])
    assert sum(map(math.exp, totals)) == pytest.approx(mass, abs=1e-4)


def test_the_expected_likert_example_adds_up():
    found = re.search(r"With probabilities ([\d., ]+) for 0 to 5 it is\s+\(.*?\) / 50 = (\d+\.\d+)", PAGE)
    masses = [float(value) for value in found[1].split(",")]
    assert len(masses) == 6
    value = expected_likert({str(digit): math.log(mass) for digit, mass in enumerate(masses)})
    assert value == pytest.approx(float(found[2]), abs=1e-9)
