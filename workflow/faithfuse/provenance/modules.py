"""Which source files a stage's code consists of.

Snakemake reruns a job when an input file changes, but does not see edits of an imported module; so every rule
lists its stage's modules as inputs. The list is found by reading import statements, never by importing.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# The command line only dispatches; an edit there decides no result.
DISPATCH = {"cli", "__main__", "__init__"}


def module_path(name: str) -> Path | None:
    """The file of a dotted module name inside the package, null when it is no module of it."""
    parts = name.split(".")
    if parts[:1] == ["faithfuse"]:
        parts = parts[1:]
    base = PACKAGE.joinpath(*parts)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(path: Path) -> frozenset[Path]:
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] == "faithfuse" and (target := module_path(name)) is not None:
                found.add(target)
    return frozenset(found)


def stage_modules(*names: str) -> list[Path]:
    """The files of the named modules and of everything of the package they import, sorted.

    A package's `commands.py` counts as a file but its imports are not followed: it names the functions of several
    stages. Package `__init__` files that hold only a docstring are left out.

    Args:
        names: dotted names inside the package, such as `"llm.judge"` or `"llm.commands"`.

    Raises:
        FileNotFoundError: a name is no module of the package.
    """
    todo, done = [], set()
    for name in names:
        path = module_path(name)
        if path is None:
            raise FileNotFoundError(f"no module {name} in {PACKAGE}")
        todo.append(path)
    while todo:
        path = todo.pop()
        if path in done:
            continue
        done.add(path)
        if path.name != "commands.py":
            todo.extend(_imports(path))
    return sorted(path for path in done if not _only_docstring(path) and path.stem not in DISPATCH - {"__init__"})


def _only_docstring(path: Path) -> bool:
    if path.name != "__init__.py":
        return False
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)
