"""Files of AMR graphs as the field has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from faithfuse.amr.triples import read_triples
from faithfuse.errors import InputError

_KEY = re.compile(r"::([\w-]+)\s+(.*?)(?=\s+::[\w-]+\s|$)")
_ALIGNMENT = re.compile(r"~e\.\d+(?:,\d+)*")


class Entry(NamedTuple):
    """One graph of a file: the line it starts on, its `::key value` pairs, and its text on one line."""

    line: int
    metadata: dict[str, str]
    graph: str


def read_amr_file(path: Path) -> list[Entry]:
    """Read a file of graphs: blocks between blank lines, `#` comments with any number of `::` keys, indented graphs.

    Alignment marks (`~e.3`) are taken off. A block of comments alone is no graph.

    Raises:
        InputError: the file cannot be read, or a graph is malformed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path, fix="Check the path.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start})", path=path, fix="Save the file as UTF-8.") from None
    return list(_entries(text, path))


def _entries(text: str, path: Path) -> Iterator[Entry]:
    start, comments, lines = 0, [], []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            comments.append(stripped)
        elif stripped:
            start = start or number
            lines.append(stripped)
        else:
            if lines:
                graph = _ALIGNMENT.sub("", " ".join(lines))
                try:
                    read_triples(graph)
                except InputError as error:
                    raise InputError(error.found, path=path, line=start, fix=error.fix) from None
                metadata = {key: value for comment in comments for key, value in _KEY.findall(comment)}
                yield Entry(start, metadata, graph)
            start, comments, lines = 0, [], []
