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
    return frozenset(target for node in ast.walk(_parsed(path)) for target in _targets(node))


@cache
def _imports_of(path: Path, function: str) -> frozenset[Path]:
    """What a function imports, with the functions and names of its file that it uses."""
    tree = _parsed(path)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    if function not in functions:
        raise FileNotFoundError(f"no function {function} in {path}")
    above = {
        alias.asname or alias.name: node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    found: set[Path] = set()
    todo, done = [function], set()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        if name in above:
            found.update(_targets(above[name]))
        for node in ast.walk(functions[name]) if name in functions else ():
            found.update(_targets(node))
            if isinstance(node, ast.Name):
                todo.append(node.id)
    return frozenset(found)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _targets(node: ast.AST) -> list[Path]:
    """The package's files that an import statement names; none for any other node."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    found = (module_path(name) for name in names if name.split(".")[0] == "faithfuse")
    return [path for path in found if path is not None]


def stage_modules(*names: str) -> list[Path]:
    """The files of the named modules and of everything of the package they import, sorted.

    A package's `commands.py` counts as a file but its imports are not followed: it names the functions of several
    stages. `"llm.commands:judge_command"` also follows what that one function imports, or a function of the same file
    that it calls. Package `__init__` files that hold only a docstring are left out.

    Args:
        names: dotted names inside the package, such as `"llm.judge"` or `"llm.commands"`, with or without a function.

    Raises:
        FileNotFoundError: a name is no module of the package, or a module has no such function.
    """
    todo, done = [], set()
    for name in names:
        module, _, function = name.partition(":")
        path = module_path(module)
        if path is None:
            raise FileNotFoundError(f"no module {module} in {PACKAGE}")
        todo.append(path)
        if function:
            todo.extend(_imports_of(path, function))
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
    body = _parsed(path).body
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)
