"""Studies are made from the workflow's own files, from CSV, from Label Studio tasks, or from audit tuples."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from faithfuse.annotate import sources
from faithfuse.cli import app
from faithfuse.errors import InputError
from faithfuse.records import write_records


def run(*arguments):
    """The command line; a user's error is raised as it is."""
    return CliRunner().invoke(app, ["annotate", *map(str, arguments)], catch_exceptions=True)


@pytest.fixture
def workflow(tmp_path, material, made):
    """What `faithfuse items` and `faithfuse respond` write: recorded responses, and generated ones apart."""
    folder = tmp_path / "results" / "items" / "long_form_qa"
    write_records(folder / "items.jsonl", material.items)
    write_records(folder / "responses.jsonl", material.responses)
    write_records(folder / "ratings.jsonl", [])
    generated = [
        made.response(item.item_id, "generated", origin="generated", prompt_tokens=5) for item in material.items[:12]
    ]
    responses = tmp_path / "results" / "responses" / "long_form_qa.jsonl"
    write_records(responses, generated)
    return folder, responses


def test_recorded_and_generated_responses_are_gathered(workflow):
    found = sources.load(workflow)
    assert {response.system for response in found.responses} == {"system-x", "system-y", "generated"}
    assert len(found.responses) == 25 + 12


def test_folders_of_all_domains_are_taken_together(workflow):
    folder, responses = workflow
    found = sources.load([folder.parent, responses.parent])
    assert len(found.responses) == 37


def test_systems_can_be_chosen(workflow):
    assert {response.system for response in sources.load(workflow, ["generated"]).responses} == {"generated"}


def test_init_takes_files_with_and_without_the_option(tmp_path, workflow):
    folder, responses = workflow
    result = run("init", tmp_path / "study", "--from", folder, responses, "--sample", 5, "--annotator", "zoe")
    assert result.exit_code == 0, result.output
    assert "zoe: " in result.output


def test_a_study_is_never_written_over(tmp_path, workflow):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").write_text("mine")
    result = run("init", tmp_path / "study", "--from", workflow[0])
    assert isinstance(result.exception, InputError)
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("given", ["results/responses", "results/responses/long_form_qa.jsonl"])
def test_the_workflows_responses_find_their_items_beside_them(tmp_path, workflow, given):
    found = sources.load([tmp_path / given])
    assert {response.system for response in found.responses} == {"generated"}
    assert len(found.responses) == 12
    assert len(found.items) == 13  # what was not answered stays in the study too
    result = run("init", tmp_path / "study", "--from", tmp_path / given, "--sample", "5", "--seed", "3")
    assert result.output.startswith("annotator-1: 5 to judge\n")


def test_a_study_that_cannot_be_made_leaves_no_folder(tmp_path, workflow):
    (workflow[0] / "items.jsonl").unlink()
    result = run("init", tmp_path / "study", "--from", workflow[1])
    assert "answers an item that is in none of the files" in str(result.exception)
    assert not (tmp_path / "study").exists()


def test_two_files_that_disagree_are_refused(tmp_path, workflow, made):
    other = tmp_path / "other.jsonl"
    write_records(other, [made.response("item-001", "generated", text="something else")])
    with pytest.raises(InputError, match="differs from the Response"):
        sources.load([*workflow, other])


def test_items_without_responses_are_refused_with_the_remedy(tmp_path, made):
    write_records(tmp_path / "items.jsonl", [made.item(1)])
    with pytest.raises(InputError, match="no response to rate.*responses"):
        sources.load([tmp_path / "items.jsonl"])


def test_a_csv_with_the_least_columns_is_enough(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('question,response\nWho?,"Me, ""myself""\nand I"\nWhy?,Because.\n', encoding="utf-8")
    found = sources.load([path])
    assert [response.text for response in found.responses] == ['Me, "myself"\nand I', "Because."]
    assert found.items[0].question == "Who?"


def test_a_csv_can_hold_dialogues_references_and_points(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "item_id,system,question,context,references,response,points\n"
        'd1,a,,"Ana: Hello: there\nno speaker here\nDr Bo Li: Bye","Ana greets\nBo leaves","* x\n* y","x\ny"\n',
        encoding="utf-8",
    )
    found = sources.load([path])
    (item,) = found.items
    assert [(turn.speaker, turn.text) for turn in item.context] == [
        ("Ana", "Hello: there"),
        ("", "no speaker here"),
        ("Dr Bo Li", "Bye"),
    ]
    assert item.domain == "summarisation"
    assert item.references.long == ["Ana greets", "Bo leaves"]
    assert found.responses[0].points == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("question,answer\na,b\n", "column response"),
        ("question,response\na\n", "longer or shorter"),
        ("question,response\na,b,c\n", "longer or shorter"),
        ("question,response\nWho?,   \n", "the response is empty"),
        ("item_id,question,response\ni,Who?,a\ni,When?,b\n", "differs from an earlier row"),
        ("question,response,domain\nWho?,a,poetry\n", "domain"),
        ("", "column response"),
    ],
)
def test_a_csv_that_does_not_fit_is_refused_with_its_place(tmp_path, text, found):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=found) as error:
        sources.load([path])
    assert error.value.path == path


def test_label_studio_tasks_make_a_study(tmp_path):
    path = tmp_path / "tasks.json"
    tasks = [{"id": 7, "data": {"question": "Who?", "response": "Me.", "references": ["I"], "context": []}}]
    path.write_text(json.dumps(tasks), encoding="utf-8")
    found = sources.load([path])
    assert found.items[0].item_id == "task-7"
    assert found.items[0].references.long == ["I"]


def test_attention_checks_are_named_and_expect_ratings(tmp_path):
    path = tmp_path / "checks.csv"
    path.write_text("item_id,question,response,expected\ntrap,Press 1,Press 1,1 2\n", encoding="utf-8")
    material, expected = sources.load_checks(path)
    assert expected == {"check-trap": [1, 2]}
    assert material.items[0].item_id == "check-trap"


@pytest.mark.parametrize("expected", ["", "6", "1,2", "one"])
def test_a_check_that_expects_no_rating_is_refused(tmp_path, expected):
    path = tmp_path / "checks.csv"
    path.write_text(f'question,response,expected\nPress 1,Press 1,"{expected}"\n', encoding="utf-8")
    with pytest.raises(InputError, match="expected"):
        sources.load_checks(path)


def test_tuples_come_bare_or_from_records_without_their_labels(tmp_path, made):
    from faithfuse.audit.suite.fixtures import record

    path = tmp_path / "tuples.jsonl"
    sealed = record("1110")
    path.write_text(json.dumps(made.tuple(1)) + "\n" + json.dumps(sealed) + "\n", encoding="utf-8")
    found = {each["tuple"]["tuple_id"]: each for each in sources.load_tuples([path])}
    assert found["tuple-1"] == {
        "tuple": made.tuple(1),
        "weights": {"dA": 0.2, "dD": 0.2, "dI": 0.2, "dM": 0.2, "dQ": 0.2},
        "dQ": None,
    }
    of_record = found[sealed["tuple"]["tuple_id"]]
    assert of_record == {"tuple": sealed["tuple"], "weights": sealed["weights"], "dQ": 1}


def test_tuples_come_from_the_plain_rows_that_seal_takes(tmp_path):
    path = tmp_path / "tuples.csv"
    path.write_text(
        "tuple_id,query,source,answer,source_observed_at,answer_observed_at,I,evidence_I\n"
        "t1,Good?,We earn a commission.,It is good.,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,1,commission\n",
        encoding="utf-8",
    )
    (found,) = sources.load_tuples([path])
    assert found["tuple"]["source"]["text"] == "We earn a commission."
    assert found["tuple"]["tuple_id"] == "t1"


def test_a_tuple_that_breaks_the_contract_is_refused_with_its_line(tmp_path, made):
    path = tmp_path / "tuples.jsonl"
    broken = made.tuple(2) | {"query": {"id": "q"}}
    path.write_text(json.dumps(made.tuple(1)) + "\n" + json.dumps(broken) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="/tuple/query/text") as error:
        sources.load_tuples([path])
    assert error.value.line == 2


def test_an_audit_study_is_made_with_its_codebook(tmp_path, repository, made):
    path = tmp_path / "tuples.jsonl"
    path.write_text(json.dumps(made.tuple(1)) + "\n", encoding="utf-8")
    audit = repository / "config" / "audit"
    options = ("--codebook", audit / "codebook.yaml", "--roles", audit / "source_roles.yaml")
    result = run("init", tmp_path / "study", "--audit", "--from", path, *options)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "study" / "codebook.yaml").read_bytes() == (audit / "codebook.yaml").read_bytes()


def test_settings_can_be_started_from_a_file_and_options_win(tmp_path, workflow):
    config = tmp_path / "mine.yaml"
    config.write_text("title: Mine\nsample: 3\nseed: 5\n", encoding="utf-8")
    run("init", tmp_path / "study", "--from", workflow[0], "--config", config, "--sample", 4, "--overlap", 0)
    from faithfuse.annotate.study import Study

    settings = Study(tmp_path / "study").settings
    assert (settings.title, settings.sample, settings.seed, settings.overlap) == ("Mine", 4, 5, 0)


@pytest.mark.parametrize("text", ["titel: x\n", "sample: 0\n", "anchors: {response: {1: x}}\n", "[", "sample: many\n"])
def test_settings_that_do_not_fit_are_refused(tmp_path, text):
    from faithfuse.annotate.study import read_settings

    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_settings(tmp_path / "study.yaml")
