"""The examples in the docstrings say what the functions do."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil

import pytest

import faithfuse.datasets

MODULES = [
    module.name
    for module in pkgutil.walk_packages(faithfuse.datasets.__path__, "faithfuse.datasets.")
    if ">>>" in (importlib.util.find_spec(module.name).loader.get_source(module.name) or "")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
