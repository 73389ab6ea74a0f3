"""A rule's list of modules holds what its stage imports, and not what other stages do."""

from __future__ import annotations

import pytest

from faithfuse.provenance.modules import PACKAGE, stage_modules


def names(*modules):
    return {path.relative_to(PACKAGE).as_posix() for path in stage_modules(*modules)}


def test_imports_are_followed():
    assert names("datasets.items") == {"datasets/items.py", "records.py", "errors.py"}


def test_a_command_file_counts_without_what_it_dispatches_to():
    assert names("provenance.commands") == {"provenance/commands.py"}


def test_a_command_counts_with_what_it_imports_and_calls():
    judge = names("llm.commands:judge_command")
    assert {"llm/commands.py", "llm/judge.py", "llm/tables.py", "llm/gather.py", "llm/lease.py"} <= judge
    assert "llm/generate.py" not in judge
    assert "analysis/scoring.py" in names("analysis.commands:score") - names("analysis.commands:fuse")


def test_the_stages_do_not_share_each_others_code():
    judge, correlate = names("llm.judge"), names("analysis.correlation")
    assert "analysis/correlation.py" not in judge
    assert "llm/judge.py" not in correlate


def test_an_unknown_module_is_an_error():
    with pytest.raises(FileNotFoundError):
        stage_modules("llm.nothing")
    with pytest.raises(FileNotFoundError):
        stage_modules("llm.commands:nothing")
