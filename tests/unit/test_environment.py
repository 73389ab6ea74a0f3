"""The environments that `make` and Snakemake install are the same."""

from __future__ import annotations

import re

import yaml


def lock(repository):
    lines = (repository / "envs" / "lock.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_conda_pins_equal_the_lock(repository):
    environment = yaml.safe_load((repository / "envs" / "faithfuse.yaml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip == lock(repository)


def test_everything_asked_for_is_pinned(repository):
    pins = dict(line.split("==") for line in lock(repository))
    for line in (repository / "envs" / "requirements.in").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            assert re.sub("[_.]", "-", name.lower()) in pins
            assert version in ("", pins[re.sub("[_.]", "-", name.lower())])


def test_every_rule_names_the_environment(repository):
    for path in sorted((repository / "rules").glob("*.smk")):
        text = path.read_text(encoding="utf-8")
        shells = text.count("    shell:")
        assert text.count('    conda:\n        "../envs/faithfuse.yaml"') == shells, path.name
        assert text.count("    log:") == shells, path.name
