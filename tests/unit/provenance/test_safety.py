"""What a stage never does: use the network, run code from data or weights, leave its folder, or spell out a token."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from faithfuse.analysis.csvfile import safe_in_spreadsheets, write_csv
from faithfuse.cli import app, redact
from faithfuse.errors import InputError, ModelError
from faithfuse.llm.registry import ModelSpec, fetch, load_registry
from faithfuse.provenance.modules import PACKAGE

# Modules through which a program reaches other hosts, and the only files of the package that may import them.
NETWORK = {
    "aiohttp", "asyncio", "ftplib", "http", "httpx", "huggingface_hub", "imaplib", "requests", "smtplib", "socket",
    "socketserver", "ssl", "telnetlib", "urllib", "urllib3", "webbrowser", "websockets", "xmlrpc",
}  # fmt: skip
FETCH = {"llm/registry.py", "datasets/fetch.py"}
# Text and names of addresses, without a connection.
HARMLESS = {"urllib.parse", "http.client"}
RUNS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "code", "runpy"}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


@cache
def nodes(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path):
    """Dotted names that a module imports, wherever in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def calls(path):
    """(dotted name, node) of every call in a module."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def short(path):
    return path.relative_to(PACKAGE).as_posix()


# The network


def test_only_the_fetching_modules_and_the_rating_app_can_reach_the_network():
    found = {}
    for path in modules():
        used = {name for name in imports(path) if name.split(".")[0] in NETWORK and name not in HARMLESS}
        if used and not short(path).startswith("annotate/"):
            found[short(path)] = used
    assert found.keys() == FETCH


def test_the_rating_app_listens_and_calls_nobody():
    for path in modules():
        if short(path).startswith("annotate/"):
            used = set(imports(path))
            assert not used & {"requests", "httpx", "urllib.request", "aiohttp", "http.client"}, path
            assert not any(
                name.endswith((".connect", "create_connection")) for name, _ in calls(path) if "sock" in name
            )


def test_no_module_runs_a_program_but_pip_for_a_fetch_and_the_gpu_driver_for_its_facts():
    found = {short(path) for path in modules() if {"subprocess", "pty"} & set(imports(path))}
    assert found == {"llm/registry.py", "llm/lease.py", "provenance/host.py"}


def test_every_rule_but_the_fetching_ones_is_offline(repository):
    common = (repository / "rules" / "common.smk").read_text(encoding="utf-8")
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
        assert f'{variable}="1"' in common
    for path in (repository / "rules").glob("*.smk"):
        for rule in path.read_text(encoding="utf-8").split("\nrule ")[1:]:
            name = rule.partition(":")[0]
            reaches = "OFFLINE=0" in rule or "data fetch" in rule or "models fetch" in rule
            assert reaches == (name in ("fetch_model", "fetch_data")), name


BLOCKED = """
import socket
def refuse(self, address, *rest):
    raise AssertionError(f"connects to {address}")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *rest, **more: refuse(None, rest[0])
from faithfuse.cli import main
main()
"""


def test_a_stage_runs_with_every_connection_refused(tmp_path, repository):
    sample, out = repository / "config" / "sample", tmp_path / "out"

    def run(*arguments):
        done = subprocess.run([sys.executable, "-c", BLOCKED, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]

    run("items", sample, "--domain", "short_form_qa", "--limit", 3, "--out", out)
    run("metrics", out / "items.jsonl", out / "responses.jsonl", "--out", out / "metrics.csv")
    run("correlate", out / "metrics.csv", out / "ratings.jsonl", "--out", out / "correlations.csv")


# Code from data or weights


def test_no_module_unpickles_or_evaluates():
    for path in modules():
        assert not RUNS_CODE & {name.split(".")[0] for name in imports(path)}, path
        for name, node in calls(path):
            assert name not in ("eval", "exec", "compile", "__import__"), (path, name)
            assert name not in ("yaml.load", "yaml.unsafe_load", "yaml.full_load", "joblib.load"), (path, name)
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert given.get("trust_remote_code", "False") == "False", path
            assert given.get("allow_pickle", "False") == "False", path
            assert "read_pickle" not in name, path
            if name == "torch.load":
                assert given.get("weights_only") == "True", path


class _Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def _bert_folder(folder):
    from transformers import BertConfig, BertTokenizerFast

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    BertConfig(vocab_size=6, **sizes).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_an_encoder_whose_weights_are_a_pickle_bomb_does_not_go_off(tmp_path, name):
    from faithfuse.metrics.embedding import BertScore

    pickle.loads(pickle.dumps(_Bomb(tmp_path / "live")))
    assert (tmp_path / "live").exists()
    folder = _bert_folder(tmp_path / "encoder")
    (folder / name).write_bytes(pickle.dumps(_Bomb(tmp_path / "boom")))
    with pytest.raises(Exception):  # noqa: B017  (whose library refuses it is not ours to say)
        BertScore(folder, 1)
    assert not (tmp_path / "boom").exists()


def test_a_model_that_brings_its_own_code_does_not_get_it_run(tmp_path):
    from faithfuse.metrics.embedding import BertScore

    folder = _bert_folder(tmp_path / "encoder")
    (folder / "modeling_own.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'boom')!r})\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "modeling_own.Own", "AutoModel": "modeling_own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError):
        BertScore(folder, 1)
    assert not (tmp_path / "boom").exists()


def test_a_chat_template_runs_in_a_sandbox():
    from jinja2.exceptions import SecurityError
    from transformers.utils.chat_template_utils import _compile_jinja_template

    template = _compile_jinja_template("{{ ''.__class__.__mro__[1].__subclasses__() }}")
    with pytest.raises(SecurityError):
        template.render(messages=[])


# Archives


def _tar(path, *members):
    with tarfile.open(path, "w:gz") as packed:
        for name, content, link in members:
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, link
                packed.addfile(member)
            else:
                member.size = len(content)
                packed.addfile(member, io.BytesIO(content))
    return path


def _zip(path, *members):
    with zipfile.ZipFile(path, "w") as packed:
        for name, content, link in members:
            entry = zipfile.ZipInfo(name)
            if link:
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(entry, link or content)
    return path


MODEL = (("m/config.json", b"{}", None), ("m/model.safetensors", b"0", None))
ESCAPES = {
    "a path above": [("m/../../../escaped.txt", b"x", None)],
    "an absolute path": [("{outside}/escaped.txt", b"x", None)],
    "a link, then a file through it": [("m/out", b"", "{outside}"), ("m/out/escaped.txt", b"x", None)],
    "a link to a file outside as the weights": [("m/tokenizer.json", b"", "{outside}/secret.json")],
}


@pytest.mark.parametrize("form", ["tar.gz", "zip"])
@pytest.mark.parametrize("how", ESCAPES)
def test_an_archive_cannot_leave_its_folder(tmp_path, form, how):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("secret")
    fill = [
        (name.format(outside=outside), content, link and link.format(outside=outside))
        for name, content, link in ESCAPES[how]
    ]
    archive = (_tar if form == "tar.gz" else _zip)(tmp_path / f"model.{form}", *MODEL, *fill)
    spec = ModelSpec(key="m", kind="encoder", provider="url", url=archive.as_uri(), licence="MIT")
    inner = tmp_path / "deep" / "deeper" / "models"
    try:
        folder = fetch(spec, inner, lambda _: None)
    except ModelError:
        folder = None
    assert all(path.is_relative_to(inner) for path in tmp_path.rglob("escaped.txt"))
    assert {path.name for path in outside.iterdir()} == {"secret.json"}
    # Of a link in a zip file only its target's name is unpacked, as text.
    if folder is not None and (folder / "tokenizer.json").exists():
        assert (folder / "tokenizer.json").read_text() != "secret"


# Ids in data

HOSTILE = [
    "../../escaped",
    "/tmp/faithfuse-escaped",
    "..\\..\\escaped",
    "a/b/c",
    "long" * 2000,
    "naïve ☃ 文字 \u202e \U0001f600",
    "$(touch escaped)",
    "`touch escaped`; touch escaped",
    "--out",
    "CON",
    "line\nbreak",
    "=HYPERLINK(1)",
]


@pytest.fixture
def hostile(tmp_path):
    """A data folder whose item ids, systems, groups and annotators are made to be misread as paths or commands."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows = {"items.jsonl": [], "responses.jsonl": [], "ratings.jsonl": []}
    for n, name in enumerate(HOSTILE):
        rows["items.jsonl"].append(
            {
                "item_id": name,
                "domain": "short_form_qa",
                "source_set": name,
                "question": "Where is Paris?",
                "references": {"short": ["in France"]},
                "group": name,
            }
        )
        for m, system in enumerate(("../../escaped system", "other")):
            text = f"Paris is in {'France' if (n + m) % 2 else 'Spain'}, answer {n}."
            rows["responses.jsonl"].append({"item_id": name, "system": system, "text": text})
            rows["ratings.jsonl"].append(
                {"item_id": name, "system": system, "annotator": "../../escaped rater", "likert": 1 + (n * 3 + m) % 5}
            )
    for file, records in rows.items():
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    return folder


def _run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, (arguments[0], done.output, done.exception)
    return done


def test_ids_never_become_paths_in_any_command_that_writes_files(hostile, tmp_path, monkeypatch):
    work = tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    before = {path for path in tmp_path.rglob("*")}
    out = work / "out"
    _run("items", hostile, "--domain", "short_form_qa", "--out", out / "items")
    items, responses, ratings = (out / "items" / f"{name}.jsonl" for name in ("items", "responses", "ratings"))
    _run("parse", items, responses, "--parser", "rules", "--cache", out / "cache", "--out", out / "graphs.jsonl")
    _run("metrics", items, responses, "--graphs", out / "graphs.jsonl", "--out", out / "metrics.csv")
    _run("correlate", out / "metrics.csv", ratings, "--out", out / "correlations.csv")
    _run("agreement", ratings, "--out", out / "agreement.csv", "--resamples", 0)
    _run("fuse", out / "metrics.csv", ratings, "--seeds", 1, "--out", out / "fused")
    _run("score", out / "metrics.csv", "--model", out / "fused", "--out", out / "scores.csv")
    _run(
        "data", "release", out / "items", "--graphs", out / "graphs.jsonl", "--metrics", out / "metrics.csv",
        "--out", out / "release",
    )  # fmt: skip
    _run("annotate", "init", out / "study", "--from", items, "--from", responses, "--annotator", "ann")
    _run("annotate", "export", out / "study", "--out", out / "export")
    written = {path for path in tmp_path.rglob("*")} - before
    assert written and all(path == out or path.is_relative_to(out) for path in written)
    assert not [path for path in written if "escaped" in path.name or "long" in path.name or "CON" in path.name]
    assert not Path("/tmp/faithfuse-escaped").exists()
    # The ids are what they were: nothing was changed to make them harmless.
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        assert {row["item_id"] for row in csv.DictReader(stream)} == set(HOSTILE)


def test_an_annotator_whose_name_is_a_path_is_refused(hostile, tmp_path):
    done = CliRunner().invoke(
        app, ["annotate", "init", str(tmp_path / "study"), "--from", str(hostile), "--annotator", "../../escaped"]
    )
    assert done.exit_code == 1
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize("key", ["../../escaped", "/tmp/escaped", "a/b", "", ".hidden", "x" * 300])
def test_a_model_key_that_is_no_plain_name_is_refused(tmp_path, key):
    path = tmp_path / "models.yaml"
    path.write_text(f"{json.dumps(key)}: {{kind: encoder, provider: path, path: /m, licence: MIT}}\n")
    with pytest.raises(InputError, match="is no model entry"):
        load_registry(path)


def test_a_release_that_names_files_outside_its_folder_is_refused(tmp_path):
    from faithfuse.audit.study.release import check_release

    (tmp_path / "outside.md").write_text("secret")
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "release.yaml").write_text(
        json.dumps(
            {
                "documents": {"codebook": "../outside.md"},
                "reported_sample": "a.csv",
                "released_sample": "a.csv",
                "declared_removed": 0,
            }
        )
    )
    with pytest.raises(InputError, match="leaves the release's folder"):
        check_release(folder)


@pytest.mark.parametrize("path", ["../../escaped.json", "/tmp/escaped.json"])
def test_a_data_registry_whose_path_leaves_the_folder_is_refused(tmp_path, path):
    from faithfuse.datasets.fetch import read_registry

    registry = tmp_path / "data.csv"
    registry.write_text(
        "set,version,path,url,sha256,licence,citation,access,how\n"
        f"x,1,{path},http://127.0.0.1/x,recorded at first download,MIT,c,fetch,\n"
    )
    with pytest.raises(InputError, match="leaves the data folder"):
        read_registry(registry)


# Spreadsheets


@pytest.mark.parametrize("text", ["=1+1", "+1 (555)", "-x", "@SUM(A1)", "\t=1", "\r=1", " =1+1", "-2+3"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert safe_in_spreadsheets(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "ROUGE-1", "-0.25", "+3", "-1e-05", "1.5", "'=1", "a = b"])
def test_numbers_and_plain_texts_stay_as_they_are(text):
    assert safe_in_spreadsheets(text) == text


def test_tables_for_people_are_neutralised_and_contracts_between_stages_are_not(tmp_path):
    rows = [{"metric": "=cmd()", "value": -0.25, "note": "@x"}]
    for name, for_people, expected in (("people", True, "'=cmd(),-0.25,'@x"), ("stage", False, "=cmd(),-0.25,@x")):
        write_csv(tmp_path / name, ("metric", "value", "note"), rows, for_people=for_people)
        assert (tmp_path / name).read_text().splitlines()[1] == expected


def test_a_formula_in_the_note_does_not_reach_a_table_of_the_papers(tmp_path, repository):
    from faithfuse.analysis.tables import CORRELATION_COLUMNS, EVALUATION_COLUMNS, IMPORTANCE_COLUMNS, write_tables

    row = {"domain": "short_form_qa", "metric": "=cmd()", "metric_class": "other", "human": "likert"}
    row |= {"coefficient": "pearson", "value": -0.5, "extension": "true", "pairs": 9, "unscored": 0}
    write_csv(tmp_path / "correlations.csv", CORRELATION_COLUMNS, [row])
    fused = tmp_path / "fused"
    write_csv(fused / "importances.csv", IMPORTANCE_COLUMNS, [])
    write_csv(fused / "evaluation.csv", EVALUATION_COLUMNS, [])
    reference = repository / "config" / "reference" / "paper_tables.csv"
    write_tables([tmp_path / "correlations.csv"], [fused], reference, tmp_path / "out", note="=HYPERLINK(1)")
    text = (tmp_path / "out" / "table_1.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text and "\n'=cmd()," in text
    assert ",=" not in text and "\n=" not in text


# Tokens

TOKEN = "hf_ThisIsNoRealTokenAtAll"


def test_an_error_message_spells_out_no_token(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "not-of-the-usual-form-1234")
    monkeypatch.setenv("SOME_API_KEY", "another secret thing")
    said = redact(f"https://me:pass@host/x {TOKEN} not-of-the-usual-form-1234 another secret thing, and the rest")
    assert said == "https://[removed]@host/x [removed] [removed] [removed], and the rest"


def test_a_fetch_that_fails_logs_no_token(tmp_path):
    registry = tmp_path / "models.yaml"
    entry = {"kind": "encoder", "provider": "hub", "repo": "a/b", "revision": "0" * 40, "licence": "MIT"}
    registry.write_text(json.dumps({"hub": entry}))
    done = subprocess.run(
        [sys.executable, "-m", "faithfuse", "models", "fetch", "hub", "--models", registry, "--models-dir", tmp_path],
        env=os.environ | {"HF_TOKEN": TOKEN, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Hugging Face cannot be reached" in done.stderr
    assert TOKEN not in done.stdout + done.stderr


def test_a_registry_with_a_password_in_an_address_is_refused_and_the_password_not_repeated(tmp_path):
    registry = tmp_path / "models.yaml"
    entry = {"kind": "encoder", "provider": "url", "url": f"http://me:{TOKEN}@host/m.zip", "licence": "MIT"}
    registry.write_text(json.dumps({"url": entry}))
    with pytest.raises(InputError, match="user name or password") as error:
        load_registry(registry)
    assert TOKEN not in redact(str(error.value))
