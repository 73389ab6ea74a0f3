"""Sealing, checking, explaining: the commands on a user's own files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from faithfuse.audit.canonical import canonical_json
from faithfuse.audit.explain import explain
from faithfuse.audit.policy import load_policy
from faithfuse.audit.record import json_schema, seal
from faithfuse.audit.roles import ROLES, RoleGuide, load_roles
from faithfuse.audit.run_check import run_check
from faithfuse.audit.sealing import Defaults, parse_weights, seal_file
from faithfuse.audit.suite import fixtures, oracle
from faithfuse.cli import app
from faithfuse.errors import InputError

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config" / "audit"
DEFAULTS = Defaults(
    {
        "annotator": "ann",
        "codebook": "c/1",
        "pipeline": "search",
        "source_observed_at": "2026-01-01T00:00:00Z",
        "answer_observed_at": "2026-01-02T00:00:00Z",
    }
)
ROW = {
    "tuple_id": "kettle",
    "query": "Is the kettle durable?",
    "source": "Acme makes it. It lasts ten years. 😀",
    "answer": "Cafe\u0301: 😀 it lasts ten years.",
    "I": 1,
    "evidence_I": "Acme makes it.",
    "A": 1,
    "evidence_A": "it lasts ten years.",
    "M": 1,
    "evidence_M": {"snapshot": "source", "quote": "ten years"},
    "D": 0,
    "evidence_D": [{"snapshot": "answer", "start": 7, "end": 8}],
    "dQ": 0.5,
    "support": 1,
}
OPTIONS = [
    "--annotator",
    "ann",
    "--codebook",
    "c/1",
    "--pipeline",
    "search",
    "--source-observed-at",
    "2026-01-01T00:00:00Z",
    "--answer-observed-at",
    "2026-01-02T00:00:00Z",
]


def sealed(tmp_path, *rows):
    path = tmp_path / "tuples.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return [json.loads(line) for line in seal_file(path, DEFAULTS)]


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)], input=stdin)


def test_evidence_is_found_in_code_points(tmp_path):
    record = sealed(tmp_path, ROW)[0]
    spans = record["annotation"]["evidence"]
    answer = record["tuple"]["answer"]["text"]
    assert [answer[item["start"] : item["end"]] for item in spans["D"]] == ["😀"]
    assert spans["M"] == [spans["M"][0] | {"snapshot": "source", "start": 24, "end": 33}]


def test_csv_and_json_lines_give_the_same_record(tmp_path):
    row = ROW | {"evidence_M": "ten years", "evidence_D": "😀"}
    row["source"] = row["source"].replace("ten years", "10 years")  # the passage must stand in one place only
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, row)
        writer.writeheader()
        writer.writerow(row)
    assert [json.loads(line) for line in seal_file(path, DEFAULTS)] == sealed(tmp_path, row)


def test_a_tuple_without_judgements_is_unresolved_with_reasons(tmp_path):
    plain = {name: ROW[name] for name in ("query", "source", "answer")}
    record = sealed(tmp_path, plain)[0]
    assert set(record["annotation"]["judgements"].values()) == {None}
    assert set(record["annotation"]["reasons"].values()) == {"not judged"}
    assert record["tuple"]["source"]["role"] == "unknown"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": ""}, "has no query"),
        ({"I": "U"}, "has 'U' for I"),
        ({"I": True}, "has True for I"),
        ({"evidence_I": None}, "without evidence"),
        ({"evidence_I": "Acme sells it"}, "nowhere"),
        ({"evidence_A": "e"}, "more than once"),
        ({"evidence_D": [{"snapshot": "answer", "start": 7, "end": 700}]}, "evidence"),
        ({"evidence_D": 7}, "evidence"),
        ({"dQ": "much"}, "dQ"),
        ({"dQ": 3}, "/dimensions/dQ"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"source_role": "enemy"}, "/tuple/source/role"),
        ({"made_at": "2020-01-01T00:00:00Z"}, "is after"),
        ({"answer_observed_at": "yesterday"}, "not a UTC time"),
        ({"revision": 2}, "replaces nothing"),
        ({"query": "\ud800"}, "lone surrogate at /query"),
        ({"dQ": float("nan")}, "NaN at /dQ"),
        ({"dQ": 10**30}, "at /dQ"),
        ({"dQ": "nan"}, "has 'nan' for dQ"),
        ({"revision": 0}, "below 1"),
        ({"revision": 1.5}, "1.5 stands where an integer"),
        ({"tuple_id": ["kettle"]}, "has ['kettle'] for tuple_id"),
    ],
)
def test_a_tuple_that_cannot_be_sealed_says_where_and_why(tmp_path, change, message):
    with pytest.raises(InputError) as error:
        sealed(tmp_path, ROW, ROW | change)
    assert "tuples.jsonl:2" in str(error.value)
    assert message in str(error.value)


def test_sealing_fails_whole_and_leaves_the_earlier_file(tmp_path):
    (tmp_path / "t.csv").write_text("query,source,answer\na,b,c\n,b,c\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    out.write_text("earlier", encoding="utf-8")
    assert isinstance(run("seal", tmp_path / "t.csv", "--out", out, *OPTIONS).exception, InputError)
    assert out.read_text("utf-8") == "earlier"


FIVE = "dQ=.2,dI=.2,dA=.2,dM=.2,dD=.2"


@pytest.mark.parametrize("text", ["dQ=1", "a,b", FIVE[:-2] + "x", FIVE + ",dQ=.2", FIVE + ",more", "x" + FIVE])
def test_weights_are_five_numbers(text):
    with pytest.raises(InputError):
        parse_weights(text)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "holds no row"),
        ("t.csv", "query,source,answer\n", "holds no row"),
        ("t.csv", "query,source,answer,query\na,b,c,d\n", "t.csv:1: has the column 'query' more than once"),
        ("t.csv", "query,source,answer\na,b\n", "t.csv:2: has another number of cells"),
        ("t.csv", "qu\u00e9ry\n".encode("latin-1"), "UTF-8"),
        ("t.jsonl", "\n", "holds no tuple"),
        ("t.jsonl", '\n{"query":"a","query":"b"}', "t.jsonl:2: holds the key 'query' more than once"),
        ("t.jsonl", "[" * 100_000, "t.jsonl:1: is not JSON"),
        ("t.jsonl", '{"dQ":' + "9" * 5000 + "}", "at /dQ"),
        ("t.jsonl", "[]", "t.jsonl:1: is no object"),
    ],
)
def test_a_file_that_cannot_be_sealed_says_where_and_why(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        list(seal_file(path, DEFAULTS))
    assert message in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize("text", ["query,source,answer\r\na,b,c\r\n", "\ufeffquery,source,answer\na,b,c\n"])
def test_csv_as_spreadsheets_write_it_is_sealed(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert [json.loads(line)["tuple"]["answer"]["text"] for line in seal_file(path, DEFAULTS)] == ["c"]


def test_offsets_count_code_points_after_emoji_combining_marks_and_right_to_left_text(tmp_path):
    # Family emoji: seven code points; e with accent: two; Hebrew with a direction mark: five.
    source = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 e\u0301 \u200f\u05e9\u05dc\u05d5\u05dd Acme."
    record = sealed(
        tmp_path,
        ROW | {"source": source, "evidence_I": "Acme.", "evidence_M": {"snapshot": "source", "quote": "e\u0301"}},
    )[0]
    spans = record["annotation"]["evidence"]
    assert [(item["start"], item["end"]) for item in spans["I"]] == [(17, 22)]
    assert [(item["start"], item["end"]) for item in spans["M"]] == [(8, 10)]
    assert "source 17–22: “Acme.”" in explain(canonical_json(record))


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\n".join(canonical_json(fixtures.record(state)) for state in oracle.STATES))
    return path


def test_check_exits_0_when_all_are_valid_and_counts_the_states(records):
    done = run("check", records)
    assert done.exit_code == 0
    assert "81 records: 81 accepted, 0 rejected" in done.output
    assert "1 omission (1), 15 no omission (0), 65 unresolved (U)" in done.output


def test_check_exits_1_when_one_is_rejected_and_says_what_to_do(records):
    with records.open("ab") as stream:
        stream.write(b'\n{"support": 2}\n')
    done = run("check", records)
    assert done.exit_code == 1
    assert "records.jsonl:82: rejected" in done.output
    assert "field.value: /support: 2 stands where" in done.output


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_check_exits_2_when_it_cannot_run(tmp_path, name):
    assert run("check", tmp_path / name).exit_code == 2


def test_check_of_an_empty_file_is_no_success(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    assert run("check", tmp_path / "empty.jsonl").exit_code == 2


def test_check_writes_a_verdict_for_each_record(records, tmp_path):
    for name in ("v.csv", "v.jsonl"):
        assert run("check", records, "--out", tmp_path / name, "--policy", CONFIG / "policy.yaml").exit_code == 0
    with (tmp_path / "v.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    objects = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text("utf-8").splitlines()]
    assert [row["endpoint"] for row in rows] == [oracle.expected(state) for state in oracle.STATES]
    assert [item["endpoint"] for item in objects] == [row["endpoint"] for row in rows]
    assert [item["decision"] for item in objects] == [row["decision"] for row in rows]
    assert {row["decision"] for row in rows if row["endpoint"] == "U"} == {"REVIEW"}
    assert rows[-1]["reason"].startswith("no judgement of relationship (I)")


@pytest.mark.parametrize("name", ["file/v.csv", "folder.csv"])
def test_check_exits_2_when_the_verdicts_cannot_be_written(records, tmp_path, name):
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "folder.csv").mkdir()
    done = run("check", records, "--out", tmp_path / name)
    assert done.exit_code == 2
    assert "cannot be written" in done.output


def test_an_input_is_never_written_over(records, tmp_path):
    before = records.read_bytes()
    assert run("check", records, "--out", records).exit_code == 2
    (tmp_path / "linked.csv").symlink_to(records)
    assert run("check", records, "--out", tmp_path / "linked.csv").exit_code == 2
    assert isinstance(run("seal", records, "--out", records, *OPTIONS).exception, InputError)
    assert records.read_bytes() == before


def test_standard_input_without_a_record_is_no_success():
    assert run("check", "-", stdin=b"").exit_code == 2
    command = f"exec {sys.executable} -m faithfuse audit check - <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard input: is closed" in done.stderr


def test_a_record_of_another_format_is_rejected_with_the_format_that_is_read(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(canonical_json(seal(fixtures.record("1110") | {"format": "faithfuse.audit/2"})))
    done = run("check", path)
    assert done.exit_code == 1
    assert "/format: 'faithfuse.audit/2' stands where 'faithfuse.audit/1' is wanted" in done.output


def test_no_record_steers_the_terminal(tmp_path):
    record = seal(fixtures.record("1110"))
    record["tuple"]["tuple_id"] = "\x1b[2Jgone"
    for path, content in ((tmp_path / "good.jsonl", seal(record)), (tmp_path / "bad.jsonl", record)):
        path.write_bytes(canonical_json(content))
        assert "\x1b" not in run("check", path).output + run("explain", path).output
    run("ledger", "append", tmp_path / "l.jsonl", tmp_path / "good.jsonl")
    assert "\\x1b[2Jgone" in run("ledger", "show", tmp_path / "l.jsonl").output


def test_the_name_of_a_file_may_be_any_bytes(records, tmp_path):
    odd = os.fsencode(tmp_path) + b"/odd\xff.jsonl"
    Path(os.fsdecode(odd)).write_bytes(records.read_bytes())
    run_check([os.fsdecode(odd)], out=tmp_path / "v.csv")
    assert "odd\\xff.jsonl" in (tmp_path / "v.csv").read_text("utf-8")


def test_long_input_on_a_terminal_gets_a_progress_bar(records, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run_check([str(records)])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("faithfuse.audit.run_check.LONG", 1)
    run_check([str(records)], progress=False)
    assert capsys.readouterr().err == ""
    run_check([str(records)])
    assert "checking" in capsys.readouterr().err


def test_check_reads_standard_input(records):
    assert run("check", "-", stdin=records.read_bytes()).exit_code == 0


def test_explain_quotes_the_evidence(tmp_path):
    text = explain(canonical_json(sealed(tmp_path, ROW)[0]))
    assert "Tuple kettle: an omission" in text
    assert "“Acme makes it.”" in text
    assert "Review priority 0.9" in text


def test_explain_reads_whole_floats_as_the_checker_does():
    raw = canonical_json(fixtures.record("1110"))
    floats = re.sub(rb'("start"|"end"):(\d+)', rb"\1:\2.0", raw)
    assert explain(floats) == explain(raw)


@pytest.mark.parametrize("state", oracle.STATES)
def test_explain_names_what_decides_every_state(state):
    text = explain(canonical_json(fixtures.record(state)))
    first = text.splitlines()[0]
    for letter, symbol in zip("IAMD", state, strict=True):
        if "U" in state:
            assert (f"({letter})" in first) is (symbol == "U")
        elif state != "1110":
            decides = symbol == ("1" if letter == "D" else "0")
            assert (f"({letter}) = {symbol}" in first) is decides


def test_explain_of_a_rejected_record_lists_every_defect():
    text = explain(b'{"support": 2}')
    assert "is rejected: 9 defects." in text
    assert "field.value: /support" in text


def test_explain_finds_a_record_by_identifier(records):
    assert "Tuple state-0101" in run("explain", records, "--id", "state-0101").output
    assert "Tuple state-1111" in run("explain", records, "--line", 1).output
    assert isinstance(run("explain", records, "--id", "state-9").exception, InputError)


def test_every_role_of_the_contract_has_a_guide_and_none_a_score():
    guides = load_roles(CONFIG / "source_roles.yaml")
    assert set(guides) == set(ROLES)
    with pytest.raises(ValidationError):
        RoleGuide(meaning="m", evidence=["e"], disclosure="d", risk=0.9)


def test_a_role_resolves_no_predicate(tmp_path):
    plain = {name: ROW[name] for name in ("query", "source", "answer")}
    for role in ROLES:
        record = sealed(tmp_path, plain | {"source_role": role})[0]
        assert set(record["annotation"]["judgements"].values()) == {None}


def test_a_policy_must_say_that_it_is_not_validated(tmp_path):
    text = (CONFIG / "policy.yaml").read_text("utf-8")
    path = tmp_path / "policy.yaml"
    path.write_text(text.replace("proposed, not validated", "validated"), encoding="utf-8")
    with pytest.raises(InputError, match="status"):
        load_policy(path)


@pytest.mark.parametrize("text", ["", "a: [", "[" * 5000, "name: 2026-99-99", "\x00", "roles: {1: {}}", "roles: []"])
@pytest.mark.parametrize("load", [load_policy, load_roles])
def test_a_policy_or_role_guide_that_cannot_be_read_is_named(tmp_path, load, text):
    path = tmp_path / "broken.yaml"
    path.write_text(text, encoding="utf-8")
    for name in (path, tmp_path, tmp_path / "nowhere.yaml"):
        with pytest.raises(InputError, match=r"See config/audit/.*yaml"):
            load(name)


def test_a_policy_must_decide_every_state(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "name: n\nstatus: proposed, not validated\nrules: [{decision: PASS, states: ['0', '1', U]}]\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="rejected"):
        load_policy(path)


def test_the_published_contract_is_what_the_program_writes(tmp_path):
    assert run("contract", "--out", tmp_path).exit_code == 0
    for name in ("record.schema.json", "reason_codes.json"):
        assert (tmp_path / name).read_bytes() == (CONFIG / name).read_bytes(), f"{name} is out of date"
    assert json.loads((CONFIG / "record.schema.json").read_text("utf-8")) == json_schema()


def test_ledger_commands_append_verify_and_show(records, tmp_path):
    path = tmp_path / "ledger.jsonl"
    assert "appended 81 entries" in run("ledger", "append", path, records).output
    assert "81 entries hold" in run("ledger", "verify", path).output
    shown = run("ledger", "show", path, "--id", "state-1110").output
    assert "endpoint 1" in shown
    assert len(shown.splitlines()) == 1
    assert json.loads(run("ledger", "show", path, "--id", "state-1110", "--json").output)["endpoint"] == "1"
    path.write_bytes(path.read_bytes().replace(b'"endpoint":"1"', b'"endpoint":"0"'))
    assert "jsonl:2:" in str(run("ledger", "verify", path).exception)


DATA = os.environ.get("FAITHFUSE_DATA")
SUPPORT = {"Complete": 1, "Partial": 0, "Incomplete": 0, "Missing": 0}


def bing_chat_tuples():
    """One tuple for each source of each of the real generative-search answers."""
    for name in ("rand_test", "rand_val"):
        path = Path(DATA, "human", "expertqa", f"{name}.jsonl")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            row = json.loads(line)
            answer = row["answers"].get("bing_chat")
            if answer is None:
                continue
            for index, claim in enumerate(answer["claims"]):
                yield (
                    f"{name}-{number}",
                    {
                        "tuple_id": f"{name}-{number}-{index}",
                        "query": row["question"],
                        "source": "\n".join(claim["evidence"]) or "no source was cited",
                        "source_id": (claim["evidence"] or ["none"])[0].split("\n")[0],
                        "answer": answer["answer_string"],
                        "support": SUPPORT.get(claim["support"]),
                    },
                )


@pytest.mark.skipif(not DATA, reason="set FAITHFUSE_DATA to the folder of public test data")
def test_real_generative_search_answers_come_out_unresolved_with_the_reason(tmp_path):
    answers, tuples = set(), []
    for answer, row in bing_chat_tuples():
        answers.add(answer)
        tuples.append(row)
    assert len(answers) == 98
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps(row) for row in tuples), encoding="utf-8")
    done = run("seal", tmp_path / "t.jsonl", "--out", tmp_path / "r.jsonl", *OPTIONS)
    assert done.exit_code == 0, done.exception
    done = run("check", tmp_path / "r.jsonl", "--out", tmp_path / "v.csv")
    assert done.exit_code == 0
    with (tmp_path / "v.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(tuples) > 98
    assert {row["endpoint"] for row in rows} == {"U"}
    assert {row["priority"] for row in rows} == {""}
    assert {row["reason"] for row in rows} == {
        "no judgement of relationship (I), adoption (A), materiality (M), disclosure (D)"
    }
    explained = explain((tmp_path / "r.jsonl").read_bytes().split(b"\n")[0])
    assert "unresolved" in explained
    supports = {json.loads(line)["support"] for line in io.StringIO((tmp_path / "r.jsonl").read_text("utf-8"))}
    assert supports == {0, 1, None}


def test_support_labels_do_not_resolve_anything(tmp_path):
    plain = {name: ROW[name] for name in ("query", "source", "answer")}
    for support in (0, 1, None):
        record = sealed(tmp_path, plain | {"support": support})[0]
        assert record["support"] == support
        assert "is unresolved" in explain(canonical_json(record))
