"""Constructed inputs to try every study tool on. The labels are made up: nobody judged anything."""

from __future__ import annotations

import random
from pathlib import Path

from faithfuse.audit.files import write_table, writing
from faithfuse.audit.study.tables import PREDICATES

NOTICE = "Constructed labels: made up by a program to show the tools. They describe no source, answer or annotator.\n"
DOMAINS = ("appliances", "finance", "health", "travel")


def _label(rng: random.Random, truth: str, error: float, unresolved: float) -> str:
    draw = rng.random()
    if draw < unresolved:
        return "U"
    return truth if draw > unresolved + error else {"1": "0", "0": "1"}[truth]


def write_example(out: Path, *, seed: int = 0, tuples: int = 80) -> list[Path]:
    """Write the constructed inputs to a folder: labels, frame, keys, reference, predicted, pairs, release.

    Args:
        out: the folder.
        seed: of the construction.
        tuples: how many tuples.
    """
    rng = random.Random(seed)
    names = [f"constructed-{number:03d}" for number in range(tuples)]
    domain = {name: DOMAINS[number % len(DOMAINS)] for number, name in enumerate(names)}
    common = {"I": 0.7, "A": 0.7, "M": 0.7, "D": 0.3}
    truth = {name: {p: "1" if rng.random() < common[p] else "0" for p in PREDICATES} for name in names}
    labels = [
        {"tuple_id": name, "annotator": who} | {p: _label(rng, truth[name][p], 0.1, 0.1) for p in PREDICATES}
        for name in names
        for who in ("constructed-a", "constructed-b", "constructed-c")
    ]
    frame = [{"tuple_id": name, "domain": domain[name], "dQ": round(rng.random(), 3)} for name in names]
    keys = [
        {
            "tuple_id": name,
            "target_family": f"family-{number // 4}",
            "related_domain": f"site-{number // 8}.example",
            "query_template": f"template-{number // 2}",
        }
        for number, name in enumerate(names)
    ]
    reference = [
        {"tuple_id": name, "domain": domain[name]} | {p: _label(rng, truth[name][p], 0, 0.05) for p in PREDICATES}
        for name in names
    ]
    predicted = [{"tuple_id": name} | {p: _label(rng, truth[name][p], 0.15, 0.1) for p in PREDICATES} for name in names]
    pairs = [_pair(rng, name, domain[name]) for name in names]
    reported = [{"tuple_id": name, "domain": domain[name], "endpoint": rng.choice("10U")} for name in names]
    tables = {
        "constructed_labels.csv": labels,
        "constructed_frame.csv": frame,
        "constructed_keys.csv": keys,
        "constructed_reference.csv": reference,
        "constructed_predicted.csv": predicted,
        "constructed_pairs.csv": pairs,
        "release/reported_sample.csv": reported,
        "release/released_sample.csv": reported[3:],
    }
    for name, rows in tables.items():
        write_table(out / name, list(rows[0]), rows)
    documents = ("archive_permissions", "exclusions", "codebook_changes", "adjudication", "split_assignments")
    for name in documents:
        with writing(out / "release" / f"{name}.md") as stream:
            stream.write(f"# {name}\n\n{NOTICE}")
    with writing(out / "release" / "release.yaml") as stream:
        listed = "".join(f"  {name}: {name}.md\n" for name in documents)
        samples = "reported_sample: reported_sample.csv\nreleased_sample: released_sample.csv\ndeclared_removed: 3\n"
        stream.write(f"# {NOTICE}documents:\n{listed}{samples}")
    with writing(out / "README.md") as stream:
        stream.write(NOTICE)
    return sorted(path for path in out.rglob("*") if path.is_file())


def _pair(rng: random.Random, name: str, domain: str) -> dict[str, object]:
    row: dict[str, object] = {"pair_id": name, "domain": domain, "settings_before": "s1", "settings_after": "s1"}
    for measure, before, after in (
        ("omission", 0.4, 0.2),
        ("answerable", 0.95, 0.9),
        ("evidence_retained", 0.9, 0.9),
        ("supported", 0.8, 0.82),
        ("abstained", 0.05, 0.1),
    ):
        row[f"{measure}_before"] = int(rng.random() < before)
        row[f"{measure}_after"] = int(rng.random() < after)
    row["latency_seconds_before"] = round(rng.uniform(0.8, 1.2), 3)
    row["latency_seconds_after"] = round(rng.uniform(0.9, 1.4), 3)
    return row
