"""What the judge's meta files (`VERDICTS.jsonl.meta.json`) say of the model and prompts behind its values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from faithfuse.records import read_json_object


def read_beside(path: Path | str) -> dict[str, Any]:
    """The content of `PATH.meta.json`, empty if there is no such file.

    Raises:
        InputError: the file is no JSON object.
    """
    beside = Path(f"{path}.meta.json")
    return read_json_object(beside, fix="Make it again, or remove it.") if beside.exists() else {}


def model_signature(content: dict[str, Any]) -> str | None:
    """Model, weights, precision, libraries and prompts as one line; null if the file names no model."""
    model = content.get("model")
    if not isinstance(model, dict) or "key" not in model:
        return None
    parts = [str(model["key"])]
    parts += [f"weights:{str(model['weights'])[:16]}"] if model.get("weights") else []
    parts += [str(model["dtype"])] if model.get("dtype") else []
    parts += [f"{name}=={str(model[name]).partition('+')[0]}" for name in ("torch", "transformers") if model.get(name)]
    parts += [f"template:{str(model['template'])[:16]}"] if model.get("template") else []
    prompts = content.get("prompt_set")
    if isinstance(prompts, dict):
        parts.append(f"prompts:{prompts.get('name')}-{str(prompts.get('sha256'))[:16]}")
    return "|".join(parts)
