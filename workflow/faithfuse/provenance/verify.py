"""Comparing a run's files with its manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from faithfuse.errors import InputError
from faithfuse.provenance.manifest import Difference, read_manifest, sha256_file
from faithfuse.provenance.record import CHECKSUMS, RECORD, RUN_ID, File, Record, digest, read_record

# What a run leaves in its folder beside results: measurements, logs, shares of stages, and what other targets make.
BESIDE = ("README.md", "benchmarks", "datasets", "logs", "release", "shards", RECORD)
RESULTS = "results/"
SIGNED = [f"{RESULTS}{name}{end}" for name in (CHECKSUMS, RECORD) for end in (".minisig", ".sig", ".asc")]
"""Signatures that people put beside a manifest."""


class Verified(NamedTuple):
    """What a verification found, and how many files of each kind it looked at."""

    difference: Difference
    run_id: str
    counts: dict[str, int]


def verify_run(folder: Path, root: Path | None = None, *, inputs: bool = True, watch: bool = True) -> Verified:
    """Compare the files of a run with its `manifest.json` and `manifest.sha256`.

    Args:
        folder: the results folder, wherever it was copied to.
        root: the repository that inputs and code lie in; the folder's parent when null.
        inputs: look at inputs, code and models too, and not only at results.
        watch: name files in the folder that the manifest does not list.

    Returns:
        Changed, missing and extra files by the name that the manifest gives them. A manifest whose reproducible part no
        longer has the digest it states counts as changed itself, and so does the file with the run id.

    Raises:
        InputError: a manifest cannot be read.
    """
    record = read_record(folder / RECORD)
    root = root or folder.resolve().parent
    changed, missing = set(), set()
    counts = {}
    parts = {"results": record.reproducible.results | record.outside}
    if inputs:
        parts["inputs"] = record.reproducible.inputs
        parts["models"] = {
            f"models/{key}/{name}": file
            for key, model in record.reproducible.models.items()
            for name, file in model.files.items()
        }
        parts["code"] = {name: File(bytes=0, sha256=sha) for name, sha in record.reproducible.code.files.items()}
    for part, files in parts.items():
        counts[part] = len(files)
        for name, file in files.items():
            state = _state(locate(name, record, folder, root), file, sized=part != "code")
            if state:
                (missing if state == "missing" else changed).add(name)
    full = digest(record.reproducible)
    if record.sha256 != full or record.run_id != full[: len(record.run_id)] or not record.run_id:
        changed.add(RESULTS + RECORD)
    changed |= _broken_id(folder, record)
    listed = _checksums(folder, changed, missing)
    extra = []
    if watch:
        known = {*parts["results"], *listed, RESULTS + RUN_ID, RESULTS + CHECKSUMS, *SIGNED}
        extra = [name for name in _present(folder) if name not in known]
    return Verified(
        Difference(sorted(changed), sorted(missing - changed), sorted(extra)), record.run_id or full, counts
    )


def _state(path: Path, file: File, *, sized: bool) -> str | None:
    if not path.is_file():
        return "missing"
    if sized and path.stat().st_size != file.bytes:
        return "changed"
    return None if sha256_file(path) == file.sha256 else "changed"


def locate(name: str, record: Record, folder: Path, root: Path) -> Path:
    """Where a file of the manifest lies on this machine.

    Results lie in `folder`; `$VARIABLE/…` is expanded; a name of which the host part knows the folder lies there; all
    others lie in `root`.
    """
    if name.startswith(RESULTS):
        return folder / name.removeprefix(RESULTS)
    if name.startswith("$") and "$" not in (expanded := os.path.expandvars(name)):
        return Path(expanded)
    folders = record.host.get("folders") or {}
    for known in sorted(folders, key=len, reverse=True):
        if name == known or name.startswith(f"{known}/"):
            return root / folders[known] / name[len(known) :].lstrip("/")
    return root / name


def _broken_id(folder: Path, record: Record) -> set[str]:
    try:
        text = (folder / RUN_ID).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return set()  # the checksum list says that it is missing
    return set() if text == record.run_id else {RESULTS + RUN_ID}


def _checksums(folder: Path, changed: set[str], missing: set[str]) -> set[str]:
    """Compare with `manifest.sha256` too; returns the names it lists."""
    path = folder / CHECKSUMS
    if not path.is_file():
        missing.add(RESULTS + CHECKSUMS)
        return set()
    listed = read_manifest(path)
    for name, sha in listed.items():
        file = folder / name.removeprefix(RESULTS) if name.startswith(RESULTS) else None
        if file is None or name in changed | missing:
            continue
        if not file.is_file():
            missing.add(name)
        elif sha256_file(file) != sha:
            changed.add(name)
    return set(listed)


def _present(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        raise InputError("is no folder", path=folder, fix="Give the folder with the results.")
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        beside = relative.parts[0] in BESIDE or any(part.startswith(".") for part in relative.parts)
        if path.is_file() and not beside:
            yield RESULTS + relative.as_posix()


def lines(difference: Difference) -> Iterable[str]:
    """`kind: file` for every file that is not as it should be."""
    for kind, names in difference._asdict().items():
        yield from (f"{kind}: {name}" for name in names)
