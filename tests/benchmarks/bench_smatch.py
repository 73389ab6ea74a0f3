"""Time of Smatch on short and long graphs: ours, `smatch` with 4 restarts, and smatchpp's integer program if installed.

Pairs are parses of the parser `rules` against gold graphs (the Little Prince, if FAITHFUSE_DATA is set), else against
parses of the reference answers of the bundled sample. Systems score each pair in turn; seconds are the processor's,
which a busy machine stretches least, and the ratio is a system's median over ours. Time per pair, how far each stays
below the optimum, and how many optima are proven, are in `smatch_quality.csv` beside.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import harness

from faithfuse.amr.files import read_amr_file
from faithfuse.amr.parse import join_graphs
from faithfuse.amr.rules import RulesParser
from faithfuse.amr.sentences import split_sentences
from faithfuse.amr.smatch import Match, _aligned, smatch, unlabeled
from faithfuse.amr.triples import read_triples
from faithfuse.records import Item, Response, atomic_write, read_records

Pair = tuple[str, str]
TASKS = ((1, 1, 200), (5, 5, 10), (10, 10, 4), (2, 20, 6), (20, 20, 2))
APART = ((5, 3), (10, 3))
UNLABELED = ((1, 1, 200), (5, 5, 10), (10, 10, 4), (2, 20, 6), (20, 20, 3))


def _sentences() -> list[Pair]:
    """(graph that is judged, reference graph) of single sentences."""
    parser = RulesParser()
    root = os.environ.get("FAITHFUSE_DATA")
    if root:
        path = Path(root, "amr", "little_prince", "amr-bank-struct-v3.0.txt")
        entries = read_amr_file(path)[:260]
        left = parser.parse([entry.metadata["snt"] for entry in entries])
        pairs = [(graph, entry.graph) for (graph, _), entry in zip(left, entries, strict=True)]
    else:
        sample = Path("config", "sample")
        gold = {i.item_id: (i.gold() or [""])[0] for i in read_records(sample / "items.jsonl", Item)}
        texts = [
            (split_sentences(r.text or "")[:1], split_sentences(gold[r.item_id])[:1])
            for r in read_records(sample / "responses.jsonl", Response)
        ]
        both = [(a[0], b[0]) for a, b in texts if a and b][:260]
        parsed = (parser.parse([a for a, _ in both]), parser.parse([b for _, b in both]))
        pairs = [(a, b) for (a, _), (b, _) in zip(*parsed, strict=True)]
    return [(a, b) for a, b in pairs if a and b]


def _joined(pairs: list[Pair], left: int, right: int, count: int) -> list[Pair]:
    """Graphs of `left` against `right` consecutive sentences, the left ones among the right ones."""
    step = max(left, right)
    starts = [(at * step) % (len(pairs) - step + 1) for at in range(count)]
    return [
        (join_graphs([a for a, _ in pairs[at : at + left]]), join_graphs([b for _, b in pairs[at : at + right]]))
        for at in starts
    ]


class Found(NamedTuple):
    """What a system found: matched triples, F1, whether it says that no alignment is better."""

    matched: int
    f1: float
    proven: bool


System = Callable[[str, str], Found]


def _apart(pairs: list[Pair], size: int, count: int) -> list[Pair]:
    """Reference graphs of `size` sentences against as many from the second half: they share little."""
    graphs, half = [b for _, b in pairs], len(pairs) // 2
    starts = [(at * size) % (half - size + 1) for at in range(count)]
    return [(join_graphs(graphs[at : at + size]), join_graphs(graphs[half + at : half + at + size])) for at in starts]


def _ours(a: str, b: str, score: Callable[[str, str], Match] = smatch) -> Found:
    _aligned.cache_clear()
    read_triples.cache_clear()
    match = score(a, b)
    return Found(match.matched, match.f1, match.proven)


def _smatch(a: str, b: str) -> Found:
    import smatch as original

    original.match_triple_dict.clear()
    matched, left, right = original.get_amr_match(a, b)
    return Found(matched, 2 * matched / (left + right), False)


def _smatchpp() -> System | None:
    try:
        from smatchpp import Smatchpp, solvers
        from smatchpp.formalism.generic.tools import GenericStandardizer

        scorer = Smatchpp(alignmentsolver=solvers.get_solver("ilp"), graph_standardizer=GenericStandardizer())
    except ImportError:
        return None

    def score(a: str, b: str) -> Found:
        match, _, _ = scorer.process_pair(a, b)
        matched, _, left, right = (float(number) for number in match["main"])
        return Found(int(matched), 2 * matched / (left + right), True)

    return score


def main(out: Path) -> None:
    """Measure and write the table of the area `smatch`."""
    pairs = _sentences()
    systems: dict[str, System] = {"ours": _ours, "smatch": _smatch}
    ilp = _smatchpp()
    if ilp is not None:
        systems["smatchpp"] = ilp
    table: list[dict[str, object]] = []
    quality = ["task,system,pairs,mean_seconds,below_optimum,mean_below_f1,most_below_f1,share_proven"]

    def measure(task: str, chosen: list[Pair], functions: dict[str, System]) -> None:
        seconds: dict[str, list[float]] = {name: [] for name in functions}
        found: dict[str, list[Found]] = {name: [] for name in functions}
        for a, b in chosen:
            for name, function in functions.items():
                start = time.process_time()
                found[name].append(function(a, b))
                seconds[name].append(time.process_time() - start)
        table.extend(harness.rows(task, seconds, len(chosen)))
        for name, results in found.items():
            gaps = [best.f1 - each.f1 for each, best in zip(results, found["ours"], strict=True)]
            # smatchpp counts other triples, so its scores are not set against the optimum here.
            below = ("", "", "")
            if name != "smatchpp":
                below = (sum(gap > 1e-9 for gap in gaps), f"{statistics.mean(gaps):.5f}", f"{max(gaps):.5f}")
            proven = statistics.mean(each.proven for each in results) if name != "smatch" else 0
            cells = (task, name, len(results), f"{statistics.mean(seconds[name]):.5f}", *below, f"{proven:g}")
            quality.append(",".join(map(str, cells)))
        # Written after every task: the long ones take minutes, and one may be stopped.
        harness.write(out, table)
        with atomic_write(out.with_name("smatch_quality.csv")) as stream:
            stream.write("\n".join(quality) + "\n")
        print("\n".join(quality[-len(functions) :]), flush=True)

    for left, right, count in TASKS:
        chosen = pairs[:count] if (left, right) == (1, 1) else _joined(pairs, left, right, count)
        for a, b in chosen[:2]:
            _ours(a, b)
        measure(f"{left} against {right} sentences", chosen, systems)
    for left, right, count in UNLABELED:
        chosen = pairs[:count] if (left, right) == (1, 1) else _joined(pairs, left, right, count)
        ours = {"ours": partial(_ours, score=unlabeled)}
        measure(f"{left} against {right} sentences unlabeled", chosen, ours)
    for size, count in APART:
        chosen = _apart(pairs, size, count)
        measure(f"{size} against {size} unrelated sentences", chosen, {"ours": _ours, "smatch": _smatch})
    size, count = APART[0]
    ours = {"ours": partial(_ours, score=unlabeled)}
    measure(f"{size} against {size} unrelated sentences unlabeled", _apart(pairs, size, count), ours)
