"""Facts of the machine and times of a run: what may differ between two runs that give the same results.

Names of people and machines are left out; paths appear only where `manifest verify` needs them (`folders`).
"""

from __future__ import annotations

import csv
import json
import locale
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# The instruction sets by which arithmetic libraries choose their kernels.
SIMD = ("avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")
ARITHMETIC = ("key", "dtype", "device", "threads", "torch", "cpu")
"""Fields of a stage's `.meta.json` that say by what arithmetic its numbers were made."""


def host_facts() -> dict[str, Any]:
    """Facts of this machine: system, processor, memory, GPUs, Python, the build of torch, locale and time zone."""
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = None
    return {
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
        **_processor(),
        "cores": os.cpu_count(),
        "cores_allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory(),
        "gpus": _gpus(),
        "python": platform.python_version(),
        "torch": torch,
        "locale": locale.setlocale(locale.LC_CTYPE),
        "time_zone": time.strftime("%z"),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _processor() -> dict[str, Any]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {"processor": platform.processor() or None, "simd": None}
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    flags = fields.get("flags", fields.get("features", "")).split()
    return {"processor": fields.get("model name"), "simd": [name for name in SIMD if name in flags]}


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _gpus() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def arithmetic(metas: Iterable[Path]) -> list[dict[str, Any]]:
    """By what arithmetic the LLM stages ran (device, threads, build of torch, kernels), each kind once.

    Args:
        metas: the `.meta.json` files of verdicts, likelihoods and responses; a file without a model is passed over.
    """
    kinds = set()
    for path in metas:
        try:
            model = json.loads(path.read_text(encoding="utf-8")).get("model") or {}
        except (OSError, ValueError, AttributeError):
            continue
        facts = {name: model[name] for name in ARITHMETIC if name in model}
        if facts:
            kinds.add(json.dumps(facts, sort_keys=True))
    return [json.loads(kind) for kind in sorted(kinds)]


def timings(folder: Path) -> dict[str, dict[str, float | None]]:
    """Seconds and peak memory (MiB) of each job that Snakemake measured, by the path of its benchmark file."""
    found = {}
    for path in sorted(folder.rglob("*.tsv")):
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                rows = list(csv.DictReader(stream, delimiter="\t"))
        except (OSError, UnicodeDecodeError):
            continue
        if rows and "s" in rows[0]:
            name = path.relative_to(folder).with_suffix("").as_posix()
            found[name] = {"seconds": _float(rows[0].get("s")), "max_rss_mib": _float(rows[0].get("max_rss"))}
    return found


def _float(text: str | None) -> float | None:
    try:
        return float(text) if text not in (None, "", "NA", "-") else None
    except ValueError:
        return None


def describe_host(*, metas: Iterable[Path], benchmarks: Path, folders: Mapping[str, Path]) -> dict[str, Any]:
    """The host part of a manifest.

    Args:
        metas: see `arithmetic`.
        benchmarks: Snakemake's benchmark files.
        folders: where inputs lay whose name in the manifest does not say it, and models, by that name.
    """
    return {
        **host_facts(),
        "arithmetic": arithmetic(metas),
        "timings": timings(benchmarks),
        "folders": {name: str(path) for name, path in sorted(folders.items())},
    }
