"""`manifest.json`: what a run read, what it was made of and what came out, and the id that all of this gives it.

The reproducible part holds nothing of the machine: two runs of the same inputs with the same code give the same part,
byte for byte in canonical JSON (RFC 8785), and so the same digest. The run id is the first 16 hexadecimal digits of
that digest. Host facts, timings and the files that carry them (or the id itself, as the report does) stand beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from faithfuse.errors import InputError
from faithfuse.llm.registry import CONTENTS, MARKER
from faithfuse.provenance.manifest import sha256_file
from faithfuse.provenance.run import without_secrets
from faithfuse.records import describe, read_json_object

FORMAT = "faithfuse-manifest/1"
ID_DIGITS = 16
RUN_ID = "run_id.txt"
RECORD = "manifest.json"
CHECKSUMS = "manifest.sha256"
WEIGHT_FILES = (".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class File(_Part):
    """A file's size and SHA-256."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Model(_Part):
    """A model: its entry in the registry, its files, and one digest over them."""

    registry: dict[str, Any]
    files: dict[str, File]
    sha256: str


class Code(_Part):
    """The source files behind the results, each with its digest, and one digest over them."""

    sha256: str
    files: dict[str, str]


class Reproducible(_Part):
    """What decides the results, and the results."""

    faithfuse: str
    configuration: dict[str, Any]
    seeds: dict[str, Any]
    packages: dict[str, str | None]
    lock_sha256: str
    models: dict[str, Model]
    code: Code
    inputs: dict[str, File]
    results: dict[str, File]
    signatures: dict[str, dict[str, str]] = Field(description="signature of every score, by study and metric")


class Record(_Part):
    """The whole of `manifest.json`."""

    format: str
    run_id: str
    sha256: str = Field(description="SHA-256 of the reproducible part in canonical JSON")
    reproducible: Reproducible
    outside: dict[str, File] = Field(description="results that carry host facts, or the run id itself")
    host: dict[str, Any]


def digest(reproducible: Reproducible) -> str:
    """SHA-256 of the reproducible part in canonical JSON, as hexadecimal."""
    return hashlib.sha256(rfc8785.dumps(reproducible.model_dump(mode="json"))).hexdigest()


def run_id(reproducible: Reproducible) -> str:
    """The short id of a run: the first digits of its digest."""
    return digest(reproducible)[:ID_DIGITS]


def measure(path: Path) -> File:
    """Size and digest of a file.

    Raises:
        InputError: it is missing.
    """
    if not path.is_file():
        raise InputError("is missing", path=path, fix="Run the workflow to the end first.")
    return File(bytes=path.stat().st_size, sha256=sha256_file(path))


def measure_inputs(inputs: Mapping[str, Path]) -> dict[str, File]:
    """Files by the name that the manifest gives them; of a folder, every file below it, hidden ones left out."""
    found = {}
    for name, path in inputs.items():
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                relative = file.relative_to(path)
                if file.is_file() and not any(part.startswith(".") for part in relative.parts):
                    found[f"{name}/{relative.as_posix()}"] = measure(file)
        else:
            found[name] = measure(path)
    return dict(sorted(found.items()))


def measure_model(folder: Path) -> dict[str, File]:
    """The files of a fetched model as its marker records them; a user's own folder is read.

    Raises:
        InputError: the folder holds neither.
    """
    for name in (CONTENTS, MARKER):
        try:
            files = json.loads((folder / name).read_text(encoding="utf-8"))["files"]
            return {file: File(bytes=size, sha256=sha256) for file, (size, sha256) in sorted(files.items())}
        except (OSError, ValueError, KeyError, TypeError):
            continue
    files = [path for path in folder.glob("*") if path.suffix in WEIGHT_FILES and path.name not in (CONTENTS, MARKER)]
    files = sorted(path for path in files if path.is_file())
    if not files:
        raise InputError("holds no model", path=folder, fix="Fetch it: faithfuse models fetch KEY.")
    return {path.name: measure(path) for path in files}


def _digest_of(files: Mapping[str, Any]) -> str:
    return hashlib.sha256(rfc8785.dumps(dict(files))).hexdigest()


def describe_model(entry: dict[str, Any], folder: Path) -> Model:
    """A model of the run from its registry entry and its folder."""
    files = measure_model(folder)
    return Model(registry=entry, files=files, sha256=_digest_of({name: file.sha256 for name, file in files.items()}))


def describe_code(files: Iterable[Path]) -> Code:
    """Digests of source files under their path relative to the working folder (the repository)."""
    digests = {file.as_posix(): measure(file).sha256 for file in files}
    return Code(sha256=_digest_of(digests), files=dict(sorted(digests.items())))


def signatures(results: Iterable[Path]) -> dict[str, dict[str, str]]:
    """The signature of every score among some results, by study and metric.

    Read from the metric tables' `.csv.meta.json`; a fused metric (`model.json`) has its metrics' signatures, and its
    own is its format with the digest of its file, under the name `Fused metric`.
    """
    found: dict[str, dict[str, str]] = {}
    for path in results:
        if path.name.endswith(".csv.meta.json"):
            content = read_json_object(path, fix="Run the workflow again.")
            study = path.name.removesuffix(".csv.meta.json")
            own = found.setdefault(study, {})
            own.update({name: str(entry["signature"]) for name, entry in content.get("metrics", {}).items()})
        elif path.name == "model.json":
            content = read_json_object(path, fix="Run the workflow again.")
            fused = f"{content.get('format', 'faithfuse-fused-metric')}|model:{sha256_file(path)[:16]}"
            found.setdefault(path.parent.name, {})["Fused metric"] = fused
    return {study: dict(sorted(names.items())) for study, names in sorted(found.items())}


def reproduce(
    *,
    description: Path,
    results: Iterable[Path],
    inputs: Mapping[str, Path],
    code: Iterable[Path],
    models: Mapping[str, Path],
) -> Reproducible:
    """The reproducible part of a run.

    Args:
        description: `results/run.json` (`faithfuse.provenance.run`).
        results: files that two runs reproduce byte for byte; paths are taken as they stand, relative to the repository.
        inputs: files and folders that the run read, by the name that the manifest gives them.
        code: the source files behind the results.
        models: folder of each model of the run, by its key.

    Raises:
        InputError: a file is missing or malformed, or the description names a model whose folder is not given.
    """
    run = read_json_object(description, fix="Run the workflow again.")
    results = sorted(results)
    missing = sorted(run.get("models", {}).keys() - models.keys())
    if missing:
        raise InputError(f"names the model {missing[0]}", path=description, fix="Pass --model KEY=FOLDER for it.")
    return Reproducible(
        faithfuse=run["faithfuse"],
        configuration=run["configuration"],
        seeds=run["seeds"],
        packages=run["packages"],
        lock_sha256=run["lock_sha256"],
        models={key: describe_model(entry, models[key]) for key, entry in sorted(run["models"].items())},
        code=describe_code(code),
        inputs=measure_inputs(inputs),
        results={path.as_posix(): measure(path) for path in results},
        signatures=signatures(results),
    )


def make_record(reproducible: Reproducible, outside: Iterable[Path], host: dict[str, Any]) -> Record:
    """Put a manifest together; host facts lose whatever looks like a token."""
    full = digest(reproducible)
    return Record(
        format=FORMAT,
        run_id=full[:ID_DIGITS],
        sha256=full,
        reproducible=reproducible,
        outside={path.as_posix(): measure(path) for path in sorted(outside)},
        host=without_secrets(host),
    )


def dump(record: Record) -> str:
    """A manifest as text."""
    return json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_record(path: Path) -> Record:
    """Read a `manifest.json`.

    Raises:
        InputError: it is missing, is no JSON, or has another form. Whether its id is right is for `verify` to say.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        detail = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({detail})", path=path, fix="Run the workflow to the end first.") from None
    try:
        record = Record.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            f"is no manifest: {describe(error)}", path=path, fix="Run the workflow again to write it."
        ) from None
    if record.format != FORMAT:
        raise InputError(f"has the format {record.format}, not {FORMAT}", path=path, fix="Run the workflow again.")
    return record
