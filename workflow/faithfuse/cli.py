"""The command line: one Typer app, one subcommand per stage.

Each stage's command stands in the `commands.py` of its package and imports heavy libraries only when it runs, so
`faithfuse --help` is instant.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys

import typer

from faithfuse import __version__
from faithfuse.errors import FaithfuseError

# Errors of the disk and not of the program: full, over quota, read-only, not permitted.
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}

app = typer.Typer(
    name="faithfuse",
    help="Reproducible faithfulness evaluation: metric fusion and source-risk auditing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"faithfuse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


for _package in ("datasets", "llm", "amr", "metrics", "analysis", "audit", "report", "provenance", "annotate"):
    importlib.import_module(f"faithfuse.{_package}.commands").register(app)


def redact(text: str) -> str:
    """A message without tokens: those of Hugging Face, credentials in addresses, and secrets of the environment."""
    from faithfuse.provenance.run import without_secrets

    for name, value in os.environ.items():
        if name.endswith(("TOKEN", "SECRET", "PASSWORD", "API_KEY")) and len(value) >= 8:
            text = text.replace(value, "[removed]")
    return without_secrets(text)


def main() -> None:
    """Run the command line; a `FaithfuseError`, or a disk that fails, becomes a message and exit status 1."""
    try:
        app()
    except FaithfuseError as error:
        print(f"faithfuse: error: {redact(str(error))}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.errno not in DISK:
            raise
        place = f"{error.filename}: " if error.filename else ""
        print(f"faithfuse: error: {place}{error.strerror}. Make room or writable, then run again.", file=sys.stderr)
        sys.exit(1)
