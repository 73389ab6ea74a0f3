"""Shares of a stage, joined."""

from __future__ import annotations

import json

import pytest

from faithfuse.errors import InputError
from faithfuse.llm.gather import gather, meta_path, summarise_responses, write_meta
from faithfuse.records import Response, write_records

RESPONSES = [
    Response(item_id="a", system="s", text="one", hit_token_limit=True),
    Response(item_id="b", system="s", text=None, reason="too long"),
    Response(item_id="c", system="s", text="three", hit_token_limit=False),
]


def written(folder, name, responses, **settings):
    path = folder / f"{name}.jsonl"
    write_records(path, responses)
    write_meta(path, {"model": "m", **settings, **summarise_responses(responses)})
    return path


def test_shares_joined_are_what_one_job_writes(tmp_path):
    whole = written(tmp_path, "whole", RESPONSES)
    shares = [written(tmp_path, "1", RESPONSES[1:2]), written(tmp_path, "2", [RESPONSES[2], RESPONSES[0]])]
    out = tmp_path / "out.jsonl"
    assert gather("responses", shares, out) == 3
    assert out.read_bytes() == whole.read_bytes()
    assert meta_path(out).read_bytes() == meta_path(whole).read_bytes()


def test_an_empty_share_changes_nothing(tmp_path):
    shares = [written(tmp_path, "1", RESPONSES), written(tmp_path, "2", [])]
    out = tmp_path / "out.jsonl"
    gather("responses", shares, out)
    assert json.loads(meta_path(out).read_text())["responses"] == 3


@pytest.mark.parametrize(
    ("second", "settings", "said"),
    [(RESPONSES[2:], {"model": "other"}, "another model"), (RESPONSES[:1], {}, "two shares")],
)
def test_shares_of_unlike_settings_or_the_same_records_are_refused(tmp_path, second, settings, said):
    shares = [written(tmp_path, "1", RESPONSES[:2]), written(tmp_path, "2", second, **settings)]
    with pytest.raises(InputError, match=said):
        gather("responses", shares, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_share_without_its_settings_is_named(tmp_path):
    share = written(tmp_path, "1", RESPONSES)
    meta_path(share).unlink()
    with pytest.raises(InputError, match="Make the share anew"):
        gather("responses", [share], tmp_path / "out.jsonl")
