"""Whether a release holds the documents that the paper asks for, and what redaction did to the sample (section V-C)."""

from __future__ import annotations

from pathlib import Path

from faithfuse.audit.files import read_yaml
from faithfuse.audit.study.tables import read_table
from faithfuse.errors import InputError

DOCUMENTS = ("archive_permissions", "exclusions", "codebook_changes", "adjudication", "split_assignments")
COLUMNS = ("check", "holds", "found")


def read_release(folder: Path) -> dict[str, object]:
    """The folder's `release.yaml`: `documents` (name → file), `reported_sample`, `released_sample`, `declared_removed`.

    Raises:
        InputError: the file is missing, broken, or lacks one of these.
    """
    path = folder / "release.yaml"
    fix = "Give documents (name: file), reported_sample, released_sample and declared_removed."
    content = read_yaml(path, fix=fix)
    names = {"documents", "reported_sample", "released_sample", "declared_removed"}
    if not isinstance(content, dict) or set(content) != names or not isinstance(content["documents"], dict):
        raise InputError("has another form", path=path, fix=fix)
    declared = content["declared_removed"]
    if type(declared) is not int:
        raise InputError(f"has declared_removed {declared!r:.40}", path=path, fix="Write how many tuples were removed.")
    return content


def check_release(folder: Path) -> list[dict[str, object]]:
    """Rows with `COLUMNS`: one for each document, then what redaction removed, by domain and in the labels.

    A redaction holds when the release says how many tuples it removed and nothing was added or relabelled.

    Raises:
        InputError: `release.yaml` or a sample file cannot be used.
    """
    release = read_release(folder)
    named = [*release["documents"].values(), release["reported_sample"], release["released_sample"]]  # type: ignore[attr-defined]
    for file in filter(None, named):
        if not (folder / str(file)).resolve().is_relative_to(folder.resolve()):
            raise InputError(
                "leaves the release's folder",
                path=folder / "release.yaml",
                record=str(file),
                fix="Put the file into the folder.",
            )
    rows = []
    for name in DOCUMENTS:
        file = release["documents"].get(name)  # type: ignore[attr-defined]
        path = folder / str(file) if file else None
        content = path.read_bytes() if path is not None and path.is_file() else b""
        written = bool(content.strip())
        size = f"{file}, {len(content)} bytes" if written else f"{file} is missing or empty"
        rows.append({"check": name, "holds": int(written), "found": "not named" if path is None else size})
    columns = ("tuple_id", "domain", "endpoint")
    reported, released = (
        {row["tuple_id"]: row for _, row in read_table(folder / str(release[key]), columns, key=("tuple_id",))}
        for key in ("reported_sample", "released_sample")
    )
    removed, added = sorted(reported.keys() - released.keys()), sorted(released.keys() - reported.keys())
    changed = sorted(
        name
        for name in reported.keys() & released.keys()
        if any(reported[name][column] != released[name][column] for column in columns)
    )
    declared = release["declared_removed"]
    rows.append(
        {
            "check": "redaction_declared",
            "holds": int(declared == len(removed)),
            "found": f"{len(removed)} of {len(reported)} tuples removed, {declared} declared",
        }
    )
    rows.append({"check": "nothing_added", "holds": int(not added), "found": f"{len(added)} tuples added"})
    rows.append({"check": "nothing_relabelled", "holds": int(not changed), "found": f"{len(changed)} tuples changed"})
    for column in ("domain", "endpoint"):
        shares = []
        for value in sorted({row[column] for row in (*reported.values(), *released.values())}):
            before = sum(row[column] == value for row in reported.values())
            after = sum(row[column] == value for row in released.values())
            shares.append(f"{value}: {before} to {after}")
        rows.append({"check": f"sample_by_{column}", "holds": 1, "found": "; ".join(shares)})
    return rows
