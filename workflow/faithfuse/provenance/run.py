"""What a run was: configuration, seeds, models and packages, without anything that varies between two equal runs."""

from __future__ import annotations

import json
import os
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from faithfuse import __version__
from faithfuse.errors import InputError
from faithfuse.provenance.manifest import sha256_file

# Where models and caches lie and among how many jobs a stage is shared decides no result; it differs between machines.
PLACES = ("models_dir", "cache_dir", "shards")
SECRET = re.compile(r"\bhf_[A-Za-z0-9]{8,}\b|(?<=://)[^/@\s]+:[^/@\s]+(?=@)|(?<=[?&]token=)[^&\s]+")
"""A Hugging Face token, or the credentials of an address."""


def public_root(source: dict[str, Any], number: int = 0) -> str:
    """What stands for a data source's folder where the machine must not show.

    A path relative to the repository, or one that begins with an environment variable, is the same on every machine and
    stays as it is; an absolute one becomes the set's name in brackets, a folder's the number of its place among `data`.
    """
    root, name = str(source["root"]), str(source["set"])
    if not root.startswith(("/", "~")):
        return root
    return f"[folder {number}]" if name == "folder" else f"[{name}]"


def without_secrets(value: Any) -> Any:
    """The same JSON value with tokens and passwords in its texts replaced by `[removed]`."""
    if isinstance(value, dict):
        return {key: without_secrets(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return SECRET.sub("[removed]", value) if isinstance(value, str) else value


def describe_run(configuration: dict[str, Any], models: Path, lock: Path) -> dict[str, Any]:
    """Describe a run as a JSON object.

    Args:
        configuration: the resolved configuration (`faithfuse.config.Run`).
        models: the registry; the entries that the run names are copied.
        lock: the lock file with the pinned packages.

    Returns:
        `faithfuse` (version), `configuration` (without `PLACES`, roots as `public_root` has them), `seeds`, `models`
        (registry entries), `packages` (installed version of each package that the lock names, null where it is not
        installed; torch without the suffix of its build) and `lock_sha256`.

    Raises:
        InputError: the lock or the registry cannot be read, or a model of the run is not in the registry.
    """
    try:
        registry = yaml.safe_load(models.read_text(encoding="utf-8"))
        pins = [line for line in lock.read_text(encoding="utf-8").splitlines() if "==" in line]
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"cannot be read ({error})", path=models, fix="Restore config/ and envs/.") from None
    keys = model_keys(configuration)
    for key in sorted(set(keys) - registry.keys()):
        raise InputError(
            f"has no model {key}", path=models, fix=f"Choose one of {', '.join(sorted(registry))}, or add it."
        )
    shown = {key: value for key, value in configuration.items() if key not in PLACES}
    for part in ("data", "further"):
        if part in configuration:
            shown[part] = [
                {**source, "root": public_root(source, number)} for number, source in enumerate(configuration[part])
            ]
    entries = {key: dict(registry[key]) for key in keys}
    for entry in entries.values():
        # A folder of this machine (the digests of its files say which weights it holds), and what its jobs are given.
        for name in ("path", "gpus", "mem_mb"):
            entry.pop(name, None)
    return without_secrets(
        {
            "faithfuse": __version__,
            "configuration": shown,
            "seeds": seeds(configuration),
            "models": entries,
            "packages": {name: installed(name) for name in (line.split("==", 1)[0] for line in pins)},
            "lock_sha256": sha256_file(lock),
        }
    )


def model_keys(configuration: dict[str, Any]) -> list[str]:
    """Keys of the registry that a run uses, sorted; the parser `rules` is code and has none."""
    return sorted(
        {configuration["llm"]["model"], configuration["embedding"]["model"], configuration["parser"]} - {"rules"}
    )


def model_folders(configuration: dict[str, Any], models: Path) -> dict[str, Path]:
    """Where each model of a run lies: its folder below `models_dir`, or a user's own folder that the registry names.

    Raises:
        InputError: the registry cannot be read.
    """
    try:
        registry = yaml.safe_load(models.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"cannot be read ({error})", path=models, fix="Restore config/models.yaml.") from None
    folders = {}
    for key in model_keys(configuration):
        own = (registry.get(key) or {}).get("path")
        place = os.path.expandvars(os.path.expanduser(own)) if own else f"{configuration['models_dir']}/{key}"
        folders[key] = Path(place)
    return folders


def seeds(configuration: dict[str, Any]) -> dict[str, Any]:
    """Every seed of a run: of the draw of items, of the correlations' bootstrap, of each split of the fusion."""
    fusion = configuration["fusion"]
    return {
        "items": configuration["seed"],
        "correlation": configuration["correlation"]["seed"],
        "fusion": [fusion["seed"] + offset for offset in range(fusion["seeds"])],
        "PYTHONHASHSEED": 0,
    }


def installed(name: str) -> str | None:
    """The installed version of a package without its build's suffix (`+cpu`), null where it is not installed."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None


def dump(description: dict[str, Any]) -> str:
    """The description as text."""
    return json.dumps(description, indent=1, ensure_ascii=False) + "\n"
