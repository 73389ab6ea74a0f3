"""GPUs lent to one job at a time.

Snakemake counts GPUs but hands out none in particular, and two runs on one host know nothing of each other. So a job
that wants GPUs locks one file for each card it takes, in a folder of the host, and sets CUDA_VISIBLE_DEVICES to these
cards before CUDA starts. The kernel frees the locks when the process ends, however it ends.

A job that wants no GPU sees none: what it computes must not depend on the machine it landed on. Where SLURM has given
a job exactly the cards it asked for, nothing is to be done.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faithfuse.errors import FaithfuseError

VISIBLE = "CUDA_VISIBLE_DEVICES"
# One folder for all users of the host; TMPDIR may be another for every job.
DEFAULT_FOLDER = Path("/tmp/faithfuse-gpus")
PAUSE = 0.5


@dataclass(frozen=True)
class Card:
    """A GPU (or a MIG part of one): how CUDA calls it, and the name that all jobs of the host lock it by."""

    device: str
    lock: str


# Open files of the cards this process holds; closing one would free its card.
_held: list[int] = []


def lease_gpus(wanted: int | None, *, say: Callable[[str], None] | None = None) -> list[str]:
    """Take GPUs for this process until it ends.

    Waits while other jobs hold the cards. Call it before CUDA is used: CUDA reads the variable once.

    Args:
        wanted: how many; 0 hides all GPUs, null leaves everything as it is.
        say: receives one line when the job has to wait; standard error when left out.

    Returns:
        The devices that this process now sees, as in CUDA_VISIBLE_DEVICES; none when `wanted` is null.

    Raises:
        FaithfuseError: there are fewer GPUs than wanted, or the folder of locks cannot be used.
    """
    if wanted is None:
        return []
    if wanted == 0:
        os.environ[VISIBLE] = ""
        return []
    cards = require_gpus(wanted)
    if in_slurm_job() and os.environ.get(VISIBLE) is not None and len(cards) == wanted:
        return [card.device for card in cards]
    say = say or (lambda line: print(line, file=sys.stderr, flush=True))
    waiting = False
    while True:
        taken = _take(cards, wanted)
        if taken is not None:
            os.environ[VISIBLE] = ",".join(card.device for card in taken)
            return [card.device for card in taken]
        if not waiting:
            say(f"waiting for {_gpus(wanted)}: other jobs hold {'it' if len(cards) == 1 else 'them'}")
            waiting = True
        time.sleep(PAUSE)


def require_gpus(wanted: int) -> list[Card]:
    """The GPUs this process may choose from.

    Raises:
        FaithfuseError: there are fewer than wanted.
    """
    cards = visible_cards()
    if len(cards) < wanted:
        limited = f" ({VISIBLE} is {os.environ[VISIBLE]!r})" if VISIBLE in os.environ else ""
        raise FaithfuseError(
            f"the configured model wants {_gpus(wanted)}, this machine shows {len(cards) or 'none'}{limited}. Run on a"
            " machine that has them, submit to a cluster (--workflow-profile workflow/profiles/slurm), or set"
            " `gpus: 0` for the model in config/models.yaml to compute on the CPU"
        )
    return cards


def require_cuda() -> None:
    """Make sure that torch can compute on the GPUs that were taken; else it would go on with the CPU.

    Raises:
        FaithfuseError: it cannot.
    """
    import torch

    if not torch.cuda.is_available():
        raise FaithfuseError(
            f"torch {torch.__version__} cannot use the GPU {os.environ.get(VISIBLE, '')}. Install the build of torch"
            " for CUDA and a driver that fits it (docs/cluster.md), or set `gpus: 0` for the model in"
            " config/models.yaml to compute on the CPU"
        )


def visible_cards() -> list[Card]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves to this process; without it all of the host, in nvidia-smi's order."""
    listed = _listed_by_nvidia_smi()
    chosen = os.environ.get(VISIBLE)
    if chosen is None:
        return list(listed.values())
    cards = []
    for entry in (part.strip() for part in chosen.split(",")):
        if entry in ("", "-1", "NoDevFiles"):  # CUDA ignores what follows an entry that is no device
            break
        # A number and a UUID may name the same card: lock it by its UUID where that is known. Inside a SLURM job a
        # number may count the job's own cards only, so it means the same to that job's processes alone.
        lock = listed[entry].lock if entry in listed else entry
        if entry.isdecimal() and in_slurm_job():
            lock = f"slurm-{os.environ['SLURM_JOB_ID']}-{entry}"
        cards.append(Card(entry, lock))
    return cards


def in_slurm_job() -> bool:
    """Whether this process runs in a job of SLURM."""
    return bool(os.environ.get("SLURM_JOB_ID"))


def _listed_by_nvidia_smi() -> dict[str, Card]:
    """Every card by its number; a card split by MIG is its parts, by their UUIDs."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    if done.returncode:
        return {}
    cards: dict[str, Card] = {}
    number = ""
    for line in done.stdout.splitlines():
        uuid = re.search(r"UUID: ((?:GPU|MIG)-[^)\s]+)", line)
        if uuid is None:
            continue
        if whole := re.match(r"GPU (\d+):", line):
            number = whole[1]
            cards[number] = Card(uuid[1], uuid[1])
        else:
            cards.pop(number, None)
            cards[uuid[1]] = Card(uuid[1], uuid[1])
    return cards


def _take(cards: list[Card], wanted: int) -> list[Card] | None:
    """Lock `wanted` of the cards, or none and return null."""
    taken: list[tuple[Card, int]] = []
    for card in cards:
        if len(taken) == wanted:
            break
        descriptor = _try_lock(card)
        if descriptor is not None:
            taken.append((card, descriptor))
    if len(taken) < wanted:
        for _, descriptor in taken:
            os.close(descriptor)
        return None
    _held.extend(descriptor for _, descriptor in taken)
    return [card for card, _ in taken]


def _try_lock(card: Card) -> int | None:
    """An open, locked file, or null when another process holds the card."""
    folder = Path(os.environ.get("FAITHFUSE_GPU_LOCKS") or DEFAULT_FOLDER)
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', card.lock)}.lock"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o1777)
        descriptor = _open(path)
    except OSError as error:
        raise FaithfuseError(
            f"{path}: cannot be used as a lock ({error.strerror}). Remove it, or set FAITHFUSE_GPU_LOCKS to a folder"
            " on this machine that all its users may write to"
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    return descriptor


def _open(path: Path) -> int:
    # Another user's file may be read, and a lock needs no more; no file is followed elsewhere or written.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            try:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
                os.fchmod(descriptor, 0o644)
                return descriptor
            except FileExistsError:
                continue


def _gpus(count: int) -> str:
    return "a GPU" if count == 1 else f"{count} GPUs"
