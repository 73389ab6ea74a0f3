"""Writing a folder of files that belong together: all of them are new, or none is."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from faithfuse.errors import FaithfuseError


@contextlib.contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside `out`; when the block ends without an error, its files are moved to `out`.

    So a full disk or a break never leaves new files beside old ones. Other files in `out` stay.

    Raises:
        FaithfuseError: something cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".new.") as temporary:
            yield Path(temporary)
            for path in sorted(Path(temporary).iterdir()):
                path.replace(out / path.name)
    except OSError as error:
        raise FaithfuseError(
            f"{out}: cannot be written ({error.strerror or error}); what was there before is unchanged. "
            "Check the path, its permissions and the space on the disk."
        ) from None
