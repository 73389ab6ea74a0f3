"""STOG BART through amrlib's own inference (the paper's parser, arXiv 2512.05700, section IV-B).

amrlib 0.8.1 loads a folder with `amrlib_meta.json`, `config.json` (whose `task_specific_params.parse_amr` holds the
length limits) and weights; the tokenizer is not in it and would be fetched from a hub, so here it must be a local
folder. transformers 4.49.0 is refused: its beam search gives other graphs than every version around it.
"""

from __future__ import annotations

import hashlib
import json
import logging
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from faithfuse.errors import ModelError

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_TOKENIZER = (("tokenizer.json",), ("vocab.json", "merges.txt"))
_BROKEN_TRANSFORMERS = "4.49.0"
BATCH_SIZE = 8
_BEAMS = 4  # what amrlib takes if the model's configuration says nothing


class StogParser:
    """A STOG model of amrlib.

    Args:
        folder: the model in amrlib's layout; `folder/tokenizer` holds the tokenizer unless it is given.
        tokenizer: a local tokenizer folder.
        threads: torch threads on CPU; one is best when several processes work.
        name: how the model is called in signatures.

    Raises:
        ModelError: a file is missing or damaged, or a library has a version that does not work.
    """

    def __init__(self, folder: Path, *, tokenizer: Path | None = None, threads: int = 1, name: str = "stog") -> None:
        _check_versions()
        tokenizer = tokenizer or folder / "tokenizer"
        _check_folder(folder, name)
        _check_tokenizer(tokenizer, name)
        import torch

        if not torch.cuda.is_available():
            torch.set_num_threads(threads)
        from amrlib.models.parse_xfm.inference import Inference

        logging.getLogger("amrlib").setLevel(logging.CRITICAL)
        self.beams = _beams(folder)
        try:
            self._inference = Inference(
                model_dir=str(folder), tok_name_or_path=str(tokenizer), batch_size=BATCH_SIZE, num_beams=self.beams
            )
        except Exception as error:  # whatever torch, transformers or safetensors raise on a damaged file
            raise ModelError(
                f"{folder}: the model {name} cannot be loaded ({type(error).__name__}: {error}). A file may be cut: "
                f"fetch it again with `faithfuse models fetch {name}`"
            ) from None
        self.signature = _signature(folder, tokenizer, name, self._inference.device.type, self.beams)

    def parse(self, sentences: list[str]) -> list[tuple[str | None, str | None]]:
        """One graph, or null with a reason, for each sentence; a sentence over the model's length is null."""
        from faithfuse.amr.parse import check_graph

        limit = self._inference.max_sent_len
        lengths = [len(ids) for ids in self._inference.tokenizer(sentences)["input_ids"]] if sentences else []
        fitting = [s for s, length in zip(sentences, lengths, strict=True) if length <= limit]
        parsed = iter(self._inference.parse_sents(fitting, add_metadata=False) if fitting else [])
        results = []
        for length in lengths:
            if length > limit:
                results.append((None, f"the sentence has {length} tokens, the parser takes {limit}"))
            else:
                results.append(check_graph(next(parsed)))
        return results


def load_stog(key: str, models: Path, threads: int, *, models_dir: Path) -> StogParser:
    """Load a parser of the registry; its folder is `path`, else `models_dir/key`.

    Raises:
        ModelError: the registry has no such parser, or the model is incomplete.
    """
    try:
        registry = yaml.safe_load(models.read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ModelError(f"{models}: the model registry cannot be read ({error})") from None
    entry = registry.get(key)
    parsers = sorted(name for name, other in registry.items() if other.get("kind") == "amr-parser")
    if not isinstance(entry, dict) or entry.get("kind") != "amr-parser":
        raise ModelError(
            f"{models}: there is no parser {key!r}. Use `rules`"
            + (f" or one of {', '.join(parsers)}" if parsers else "")
        )
    folder = Path(entry["path"]) if "path" in entry else models_dir / key
    return StogParser(folder, tokenizer=_tokenizer_folder(entry, folder, models_dir), threads=threads, name=key)


def _tokenizer_folder(entry: dict[str, Any], folder: Path, models_dir: Path) -> Path | None:
    """`folder/tokenizer` if it is there, else the registry's `tokenizer` as a folder or under `models_dir`."""
    named = entry.get("tokenizer")
    if (folder / "tokenizer").is_dir() or not named:
        return None
    for candidate in (Path(named), models_dir / named, models_dir / Path(named).name):
        if candidate.is_dir():
            return candidate
    return None


def _check_versions() -> None:
    found = metadata.version("transformers")
    if found == _BROKEN_TRANSFORMERS:
        raise ModelError(
            f"transformers {found} decodes other graphs than all other versions. Install the version of envs/lock.txt"
        )
    try:
        version = metadata.version("amrlib")
        import unidecode  # noqa: F401  (amrlib imports it without declaring it)
    except (metadata.PackageNotFoundError, ImportError):
        raise ModelError(
            "STOG needs amrlib 0.8.1 and unidecode. Install them: pip install amrlib==0.8.1 unidecode"
        ) from None
    if tuple(int(part) for part in version.split(".")[:3]) < (0, 8, 1):
        raise ModelError(f"amrlib {version} does not work with transformers {found}. Install amrlib==0.8.1")


def _check_folder(folder: Path, name: str) -> None:
    fetch = f"fetch it with `faithfuse models fetch {name}`, or set its `path` in the model registry"
    if not folder.is_dir():
        raise ModelError(f"{folder}: the folder of the model {name} is missing: {fetch}")
    for wanted in ("amrlib_meta.json", "config.json"):
        if not (folder / wanted).is_file():
            raise ModelError(f"{folder}: the file {wanted} is missing from the model {name}: {fetch}")
    if not any((folder / weights).is_file() for weights in _WEIGHTS):
        raise ModelError(f"{folder}: the weights of the model {name} are missing ({' or '.join(_WEIGHTS)}): {fetch}")
    try:
        meta = json.loads((folder / "amrlib_meta.json").read_text(encoding="utf-8"))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{folder}: a JSON file of the model {name} is damaged ({error}): {fetch}") from None
    module = meta.get("inference_module", "")
    if module != ".parse_xfm.inference":
        raise ModelError(
            f"{folder / 'amrlib_meta.json'}: inference_module is {module!r}, wanted '.parse_xfm.inference': this is no "
            "STOG model of the kind parse_xfm"
        )
    limits = (config.get("task_specific_params") or {}).get("parse_amr") or {}
    for wanted in ("max_in_len", "max_out_len"):
        if not isinstance(limits.get(wanted), int):
            raise ModelError(
                f"{folder / 'config.json'}: task_specific_params.parse_amr.{wanted} is missing: this is no AMR parser"
            )


def _beams(folder: Path) -> int:
    """The beams of the model's own configuration: `generation_config.json`, else `config.json` and its `parse_amr`."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    generation = folder / "generation_config.json"
    places = [json.loads(generation.read_text(encoding="utf-8"))] if generation.is_file() else []
    places += [config["task_specific_params"]["parse_amr"], config]
    return next((place["num_beams"] for place in places if isinstance(place.get("num_beams"), int)), _BEAMS)


def _check_tokenizer(tokenizer: Path, name: str) -> None:
    if not any(all((tokenizer / file).is_file() for file in files) for files in _TOKENIZER):
        raise ModelError(
            f"{tokenizer}: the tokenizer of the model {name} is missing (tokenizer.json, or vocab.json and merges.txt)."
            " amrlib models do not contain it: put that of facebook/bart-large there"
        )


def _signature(folder: Path, tokenizer: Path, name: str, device: str, beams: int) -> str:
    """Libraries, digests of weights and tokenizer, beams, batch and device: all that decides a graph."""
    digest = hashlib.sha256()
    for path in sorted([*(folder / weights for weights in _WEIGHTS), folder / "config.json"]):
        if path.is_file():
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    for path in sorted(tokenizer.glob("*.json")) + sorted(tokenizer.glob("*.txt")):
        digest.update(path.read_bytes())
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("amrlib", "transformers", "torch"))
    return f"{name} {digest.hexdigest()[:12]}, {versions}, beams {beams}, batch {BATCH_SIZE}, {device}"
