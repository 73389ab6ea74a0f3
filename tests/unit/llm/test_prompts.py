"""The prompts are the paper's, in two sets."""

import os
import shutil
from pathlib import Path

import pytest
import yaml

from faithfuse.errors import InputError
from faithfuse.llm.prompts import ground_truth, load_prompts
from faithfuse.records import EVALUATED_DOMAINS, Item, read_records

FOLDER = Path(__file__).parents[3] / "config/prompts"
TEXTS = (".json", ".jsonl", ".csv", ".tsv", ".txt")


@pytest.fixture(scope="module")
def verbatim():
    return load_prompts(FOLDER, "verbatim")


def test_verbatim_prompts_concatenate_as_the_papers_literals_do(verbatim, qa_item):
    # arXiv 2512.05700, A-B: the last literal of the instruction and the announcement join without a separator.
    prompt = verbatim.judge["short_form_qa"]["confidence"]
    values = {"question": "Q?", "ground_truth": "G", "response": "R", "transcript": ""}
    (message,) = verbatim.judging(prompt, values)
    assert message["content"].endswith(
        "Do NOT provide any text additional to the rating.Here is the question, ground truth answer and user's"
        " answer:Question: Q?Ground truth: GUser answer: R"
    )
    first = verbatim.answering(qa_item(1))[0]["content"]
    assert first.startswith(
        "You will be given a trivia question, your task is to answer this question to the best of your knowledge."
        "Please produce your answer concisely"
    )


def test_verbatim_conversational_prompts_announce_the_question_and_never_pass_it(verbatim, prompts):
    for kind in ("confidence", "likert"):
        paper = verbatim.judge["conversational_qa"][kind]
        assert not any("{question}" in literal for literal in paper.user)
        assert "Question: {question}" in prompts.judge["conversational_qa"][kind].user


def test_repaired_differs_from_verbatim_by_line_breaks_and_that_question_alone(verbatim, prompts):
    assert (verbatim.separator, prompts.separator) == ("", "\n")
    for domain in EVALUATED_DOMAINS:
        assert verbatim.answer[domain].user == prompts.answer[domain].user
        for name, prompt in verbatim.judge[domain].items():
            repaired = prompts.judge[domain][name]
            assert [
                x for x in repaired.user if domain != "conversational_qa" or x != "Question: {question}"
            ] == prompt.user
            assert repaired.system == prompt.system


def test_system_messages_are_where_the_paper_has_them(verbatim):
    for domain, group in verbatim.judge.items():
        for prompt in group.values():
            assert bool(prompt.system) == (domain in ("conversational_qa", "summarisation"))


def test_no_example_comes_from_an_evaluated_item(prompts):
    sample = read_records(FOLDER.parent / "sample/items.jsonl", Item)
    questions = {item.question.strip().casefold() for item in sample if item.question}
    turns = {turn.text.strip().casefold() for item in sample for turn in item.context}
    examples = [example for group in prompts.examples.values() for example in group]
    assert examples and yaml.safe_load((FOLDER / "examples.yaml").read_text())["source"] == "faithfuse"
    for example in examples:
        assert (example.question or "").strip().casefold() not in questions
        for line in (example.transcript or "").splitlines():
            assert line.partition(": ")[2].strip().casefold() not in turns


def test_what_the_paper_does_not_print_is_marked_as_ours(prompts, verbatim):
    for chosen in (prompts, verbatim):
        ours = [p for d in chosen.variants.values() for group in d.values() for p in group.values()]
        ours += [p for group in chosen.likelihood.values() for p in group.values()]
        assert len(ours) == 4 + 12 and {prompt.source for prompt in ours} == {"faithfuse"}
        for group in chosen.judge.values():
            assert all(prompt.source.split(",")[0] in ("A-B", "B-B", "C-B") for prompt in group.values())
    # A variant is ours, so no set joins its sentences as the paper's typesetting did.
    variant = verbatim.variants["summarisation"]["full_reference"]["likert"]
    values = {"ground_truth": "G", "response": "R", "question": "", "transcript": ""}
    assert verbatim.judging(variant, values)[-1]["content"].endswith("Reference summary: G\nSummarised points: R")


def test_no_example_comes_from_a_public_set_that_can_be_evaluated(prompts):
    if not os.environ.get("FAITHFUSE_DATA"):
        pytest.skip("set FAITHFUSE_DATA to the folder of the public sets")
    texts = set()
    for group in prompts.examples.values():
        for example in group:
            texts |= {example.question, example.answer}
            texts |= {line.partition(": ")[2] for line in (example.transcript or "").splitlines()}
    # Longer texts only: a year or a river may well be somebody's answer to another question.
    wanted = {text.casefold() for text in texts if text and len(text) > 20}
    files = [p for p in Path(os.environ["FAITHFUSE_DATA"], "human").rglob("*") if p.suffix in TEXTS]
    assert len(wanted) > 10 and files
    for path in files:
        content = path.read_text(encoding="utf-8", errors="replace").casefold()
        assert not [text for text in wanted if text in content], path


def test_braces_in_a_users_text_mean_nothing(prompts, qa_item):
    item = qa_item(1, question="What does {response} mean in {0}?")
    assert "What does {response} mean in {0}?" in prompts.answering(item)[-1]["content"]


def test_ground_truth_names_each_alias_once(qa_item):
    item = qa_item(1, references={"short": ["Danube", " the Danube", "danube", "Duna "]})
    assert ground_truth(item) == "Danube; the Danube; Duna"
    assert ground_truth(qa_item(1, references={})) is None


def test_an_unknown_field_is_refused_with_its_name(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "p")
    path = tmp_path / "p/repaired.yaml"
    path.write_text(path.read_text().replace("{ground_truth}", "{gold}"))
    with pytest.raises(InputError, match=r"unknown field \{gold\}"):
        load_prompts(tmp_path / "p", "repaired")
    with pytest.raises(InputError, match="cannot be read"):
        load_prompts(tmp_path / "p", "other")
