"""What a run was: configuration, models and packages, without anything that varies between two equal runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from faithfuse import __version__
from faithfuse.errors import InputError
from faithfuse.provenance.manifest import sha256_file


def describe_run(configuration: dict[str, Any], models: Path, lock: Path) -> dict[str, Any]:
    """Describe a run as a JSON object.

    Args:
        configuration: the resolved configuration (`faithfuse.config.Run`).
        models: the registry; the entries that the run names are copied.
        lock: the lock file with the pinned packages.

    Raises:
        InputError: the lock or the registry cannot be read, or a model of the run is not in the registry.
    """
    try:
        registry = yaml.safe_load(models.read_text(encoding="utf-8"))
        pins = [line for line in lock.read_text(encoding="utf-8").splitlines() if "==" in line]
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"cannot be read ({error})", path=models, fix="Restore config/ and envs/.") from None
    keys = {configuration["llm"]["model"], configuration["embedding"]["model"], configuration["parser"]} - {"rules"}
    for key in sorted(keys - registry.keys()):
        raise InputError(
            f"has no model {key}", path=models, fix=f"Choose one of {', '.join(sorted(registry))}, or add it."
        )
    # Where models lie and how many jobs share a stage decides no result, and may differ between two equal runs.
    undeciding = ("models_dir", "cache_dir", "shards")
    shown = {key: value for key, value in configuration.items() if key not in undeciding}
    return {
        "faithfuse": __version__,
        "configuration": shown,
        "models": {key: registry[key] for key in sorted(keys)},
        "packages": dict(line.split("==", 1) for line in pins),
        "lock_sha256": sha256_file(lock),
    }


def dump(description: dict[str, Any]) -> str:
    """The description as text."""
    return json.dumps(description, indent=1, ensure_ascii=False) + "\n"
