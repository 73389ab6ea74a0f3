"""Runs that died and left their lock behind.

Snakemake locks its folder with plain files, which a run that is killed leaves behind: the next run then refuses to
start. Here every run also holds an advisory lock of the kernel's, which ends with the process. Where nobody holds that
one, the files are of a dead run and are removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

# Held until the process ends; closing the file would free the lock.
_held: list[int] = []


def clear_dead_lock(folder: Path | str = ".snakemake") -> bool:
    """Note that this process runs here, and remove the lock of a run that died.

    The lock stays where it is when another run is alive, when the last run was on another host (whose processes cannot
    be seen everywhere), or when the folder cannot be written or its file system has no advisory locks; Snakemake
    then says itself what to do.

    Args:
        folder: Snakemake's own folder in the working folder.

    Returns:
        Whether a lock was removed.
    """
    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / "running", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return False
    _held.append(descriptor)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        cleared = _clear(folder, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return cleared
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return False


def _clear(folder: Path, descriptor: int) -> bool:
    """Remove Snakemake's files where the last run was on this host, and write down that this one is."""
    host = os.uname().nodename
    last = os.pread(descriptor, 300, 0).decode(errors="replace")
    left = sorted((folder / "locks").glob("*.lock")) if last == host else []
    for path in left:
        path.unlink(missing_ok=True)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, host.encode(), 0)
    return bool(left)
