"""Run the conformance cases from their files, with a patch reader of this test's own."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path

import jsonschema
import pytest

from faithfuse.audit.check import check_bytes

HERE = Path(__file__).parent
FILES = ("states", "mutations", "fields", "texts")


def patched(record, steps):
    record = copy.deepcopy(record)
    for step in steps:
        place = record
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        for part in path:
            place = place[int(part) if isinstance(place, list) else part]
        last = int(last) if isinstance(place, list) else last
        if step["op"] == "remove":
            del place[last]
        else:
            place[last] = step["value"]
    return record


@pytest.mark.parametrize("name", FILES)
def test_every_case_comes_out_as_expected(name):
    wrong = []
    for group in json.loads((HERE / f"{name}.json").read_text("utf-8")):
        for test in group["tests"]:
            if "patch" in test:
                raw = json.dumps(patched(group["record"], test["patch"])).encode()
            else:
                raw = base64.b64decode(test["text_base64"])
            result, expected = check_bytes(raw), test["expected"]
            found = {
                "accepted": result.accepted,
                "codes": sorted(result.codes()),
                "endpoint": result.state() if result.accepted else None,
                "priority": result.priority if result.priority is None else pytest.approx(result.priority, abs=1e-12),
            }
            if found != expected:
                wrong.append((group["description"], test["description"], found, expected))
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_case_files_have_the_published_form(name):
    schema = json.loads((HERE / "cases.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads((HERE / f"{name}.json").read_text("utf-8")))


def test_case_files_are_what_the_program_writes(tmp_path):
    from faithfuse.audit.suite.cases import write_cases

    for path in write_cases(tmp_path):
        assert path.read_bytes() == (HERE / path.name).read_bytes(), f"{path.name} is out of date"


def test_the_files_hold_the_papers_states_removals_and_mutations():
    groups = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in FILES}
    tests = {name: [test for group in groups[name] for test in group["tests"]] for name in FILES}
    assert len(groups["states"]) == 81
    assert sum("without evidence" in test["description"] for test in tests["states"]) == 216
    assert len(tests["mutations"]) == 192
    assert not any(test["expected"]["accepted"] for test in tests["mutations"])
