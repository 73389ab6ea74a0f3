"""Time of Smatch on short and long graphs: ours, `smatch` with 4 restarts, and smatchpp's integer program if installed.

Pairs are parses of the parser `rules` against gold graphs (the Little Prince, if FAITHFUSE_DATA is set), else against
parses of the reference answers of the bundled sample. Systems score each pair in turn; the ratio is a system's median
over ours. How far each stays below the optimum, and how many optima are proven, is in `smatch_quality.csv` beside.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from itertools import starmap
from pathlib import Path

import harness

from faithfuse.amr.files import read_amr_file
from faithfuse.amr.parse import join_graphs
from faithfuse.amr.rules import RulesParser
from faithfuse.amr.sentences import split_sentences
from faithfuse.amr.smatch import _aligned, smatch, unlabeled
from faithfuse.records import Item, Response, atomic_write, read_records

Pair = tuple[str, str]
TASKS = ((1, 1, 200), (5, 5, 5), (10, 10, 2), (2, 20, 3), (20, 20, 1))


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


def _ours(a: str, b: str) -> tuple[int, bool]:
    _aligned.cache_clear()
    match = smatch(a, b, time_limit=30)
    return match.matched, match.proven


def _ours_unlabeled(a: str, b: str) -> tuple[int, bool]:
    _aligned.cache_clear()
    match = unlabeled(a, b, time_limit=30)
    return match.matched, match.proven


def _smatch(a: str, b: str) -> tuple[int, bool]:
    import smatch as original

    original.match_triple_dict.clear()
    return original.get_amr_match(a, b)[0], False


def _smatchpp() -> Callable[[str, str], tuple[int, bool]] | None:
    try:
        from smatchpp import Smatchpp, solvers
        from smatchpp.formalism.generic.tools import GenericStandardizer

        scorer = Smatchpp(alignmentsolver=solvers.get_solver("ilp"), graph_standardizer=GenericStandardizer())
    except ImportError:
        return None

    def score(a: str, b: str) -> tuple[int, bool]:
        match, _, _ = scorer.process_pair(a, b)
        return int(match["main"][0]), True

    return score


def main(out: Path) -> None:
    """Measure and write the table of the area `smatch`."""
    pairs = _sentences()
    systems: dict[str, Callable[[str, str], tuple[int, bool]]] = {"ours": _ours, "smatch": _smatch}
    ilp = _smatchpp()
    if ilp is not None:
        systems["smatchpp"] = ilp
    table: list[dict[str, object]] = []
    quality: list[str] = ["task,system,pairs,below_optimum,share_proven"]

    def measure(task: str, chosen: list[Pair], functions: dict[str, Callable[[str, str], tuple[int, bool]]]) -> None:
        seconds: dict[str, list[float]] = {name: [] for name in functions}
        found: dict[str, list[tuple[int, bool]]] = {name: [] for name in functions}
        for a, b in chosen:
            for name, function in functions.items():
                start = time.perf_counter()
                found[name].append(function(a, b))
                seconds[name].append(time.perf_counter() - start)
        table.extend(harness.rows(task, seconds, len(chosen)))
        best = [matched for matched, _ in found["ours"]]
        for name, results in found.items():
            # smatchpp counts other triples, so its matches are not set against the optimum here.
            below = sum(m < o for (m, _), o in zip(results, best, strict=True)) if name != "smatchpp" else ""
            proven = statistics.mean(proven for _, proven in results)
            quality.append(f"{task},{name},{len(results)},{below},{proven:g}")
        # Written after every task: the long ones take minutes, and one may be stopped.
        harness.write(out, table)
        with atomic_write(out.with_name("smatch_quality.csv")) as stream:
            stream.write("\n".join(quality) + "\n")

    for left, right, count in TASKS:
        chosen = pairs[:count] if (left, right) == (1, 1) else _joined(pairs, left, right, count)
        list(starmap(_ours, chosen[:2]))
        measure(f"{left} against {right} sentences", chosen, systems)
    measure("20 against 20 sentences, unlabeled", _joined(pairs, 20, 20, 1), {"ours": _ours_unlabeled})
