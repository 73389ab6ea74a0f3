"""Executing a notebook so that the same results give the same bytes.

The executed copy keeps sources and outputs; what varies from run to run (execution times and counts, the kernel's
description of itself) is taken out.
"""

from __future__ import annotations

import os
from pathlib import Path

import typer

from faithfuse.errors import FaithfuseError, InputError
from faithfuse.records import atomic_write

VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled")


def execute(notebook: Path, out: Path, results: Path, timeout: int = 600) -> None:
    """Run a notebook from the repository's root and write it with its outputs.

    Args:
        notebook: the notebook to run; it finds the results through `FAITHFUSE_RESULTS`.
        out: where to write the executed copy.
        results: folder of the results.
        timeout: seconds a cell may take.

    Raises:
        InputError: the notebook does not exist or is no notebook.
        FaithfuseError: a cell raised; the message ends with what it raised.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    try:
        document = nbformat.read(notebook, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise InputError(f"is no notebook ({error})", path=notebook, fix="Name an .ipynb file.") from None
    environment = {
        **os.environ,
        "FAITHFUSE_RESULTS": str(results.resolve()),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    client = NotebookClient(
        document, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": str(Path.cwd())}}
    )
    try:
        client.execute(env=environment)
    except (CellExecutionError, CellTimeoutError) as error:
        raise FaithfuseError(f"{notebook}: a cell failed. Mend the cell or its input.\n{error}") from None
    for cell in document.cells:
        for key in VOLATILE:
            cell.metadata.pop(key, None)
    document.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    )
    with atomic_write(out) as stream:
        nbformat.write(document, stream)


def register_notebook(app: typer.Typer) -> None:
    """Add `faithfuse notebook` to the app."""

    @app.command()
    def notebook(
        path: Path = typer.Argument(..., help="The notebook."),
        results: Path = typer.Option(Path("results"), help="Folder of the results it reads."),
        out: Path = typer.Option(..., help="The executed copy."),
    ) -> None:
        """Execute an analysis notebook on results, without traces of when and where."""
        execute(path, out, results)
        typer.echo(f"{path}: executed, see {out}")
