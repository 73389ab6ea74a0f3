"""The bundled sample is what its README says: complete, rated, varied, and honest about its ratings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from faithfuse.records import EVALUATED_DOMAINS, Domain, Item, Rating, Response, read_records, write_records

SAMPLE = Path(__file__).resolve().parents[2] / "config" / "sample"
FILES = (("items.jsonl", Item), ("responses.jsonl", Response), ("ratings.jsonl", Rating))


@pytest.fixture(scope="module")
def items() -> dict[str, Item]:
    return {item.item_id: item for item in read_records(SAMPLE / "items.jsonl", Item)}


@pytest.fixture(scope="module")
def responses() -> list[Response]:
    return read_records(SAMPLE / "responses.jsonl", Response)


@pytest.fixture(scope="module")
def ratings() -> list[Rating]:
    return read_records(SAMPLE / "ratings.jsonl", Rating)


def of(items: dict[str, Item], domain: Domain) -> list[Item]:
    return [item for item in items.values() if item.domain == domain]


@pytest.mark.parametrize(("name", "kind"), FILES)
def test_files_are_in_the_order_and_form_that_write_records_gives(name, kind, tmp_path):
    write_records(tmp_path / name, read_records(SAMPLE / name, kind))
    assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes()


@pytest.mark.parametrize(
    ("domain", "least", "groups"),
    [
        (Domain.SHORT_FORM_QA, 60, 60),
        (Domain.LONG_FORM_QA, 60, 60),
        (Domain.CONVERSATIONAL_QA, 60, 20),
        (Domain.SUMMARISATION, 40, 40),
    ],
)
def test_every_domain_is_large_enough(items, domain, least, groups):
    found = of(items, domain)
    assert len(found) >= least
    assert len({item.group for item in found}) >= groups


def test_every_item_is_free_to_use_and_ours(items):
    for item in items.values():
        assert item.provenance == {"licence": "CC0-1.0", "author": "faithfuse"}
        assert item.source_set == "faithfuse-sample"


def test_every_item_has_two_recorded_responses_that_differ(items, responses):
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for response in responses:
        assert response.origin == "recorded"
        texts[response.item_id][response.system] = response.text.casefold()
    assert texts.keys() == items.keys()
    for item_id, by_system in texts.items():
        assert by_system.keys() == {"writer-a", "writer-b"}, item_id
        assert len(set(by_system.values())) == 2, item_id


def test_every_response_is_rated_once_and_summaries_point_by_point(items, responses, ratings):
    expected = []
    for response in responses:
        if items[response.item_id].domain == Domain.SUMMARISATION:
            expected += [(response.item_id, response.system, point) for point in range(len(response.points))]
        else:
            expected.append((response.item_id, response.system, None))
    assert Counter((r.item_id, r.system, r.point) for r in ratings) == Counter(expected)
    assert {rating.annotator for rating in ratings} == {"authors"}


def test_the_whole_scale_is_used_in_every_domain(items, ratings):
    for domain in EVALUATED_DOMAINS:
        counts = Counter(r.likert for r in ratings if items[r.item_id].domain == domain)
        assert counts.keys() == {1, 2, 3, 4, 5}, domain
        assert min(counts.values()) >= 10, (domain, counts)


def test_neither_system_is_always_better(items, responses, ratings):
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for rating in ratings:
        values[rating.item_id, rating.system].append(rating.likert)
    mean = {key: sum(likert) / len(likert) for key, likert in values.items()}
    for domain in EVALUATED_DOMAINS:
        found = of(items, domain)
        better = sum(mean[item.item_id, "writer-a"] > mean[item.item_id, "writer-b"] for item in found)
        worse = sum(mean[item.item_id, "writer-a"] < mean[item.item_id, "writer-b"] for item in found)
        assert min(better, worse) >= len(found) / 4, domain


def test_the_same_question_in_both_forms_shares_its_group(items):
    short = {item.group: item for item in of(items, Domain.SHORT_FORM_QA)}
    long = {item.group: item for item in of(items, Domain.LONG_FORM_QA)}
    assert short.keys() == long.keys()
    for group, item in short.items():
        assert long[group].question == item.question
        assert long[group].references.short == item.references.short


def test_a_group_of_dialogue_items_is_one_dialogue(items):
    dialogues: dict[str, set[str]] = defaultdict(set)
    questions: dict[str, list[str]] = defaultdict(list)
    for item in items.values():
        if item.context:
            dialogues[item.group].add(item.transcript())
            questions[item.group].append(item.question or "")
    assert all(len(transcripts) == 1 for transcripts in dialogues.values())
    assert len(set().union(*dialogues.values())) == len(dialogues), "two groups hold the same dialogue"
    for item in of(items, Domain.CONVERSATIONAL_QA):
        assert len(set(questions[item.group])) == 3
    for item in of(items, Domain.SUMMARISATION):
        assert item.group == item.item_id


def test_dialogues_are_short_enough_for_a_small_model(items):
    for item in items.values():
        if item.context:
            most = 10 if item.domain == Domain.CONVERSATIONAL_QA else 12
            assert 6 <= len(item.context) <= most, item.item_id
            assert 2 <= len({turn.speaker for turn in item.context}) <= 3, item.item_id
            assert 70 <= sum(len(turn.text.split()) for turn in item.context) <= 140, item.item_id


def test_references_are_there_and_not_blank(items):
    for item in items.values():
        refs = item.references
        for texts in (refs.short, refs.long, refs.points):
            assert all(text.strip() == text and text for text in texts), item.item_id
            assert len(set(texts)) == len(texts), item.item_id
        assert item.gold(), item.item_id
        if item.domain == Domain.SUMMARISATION:
            assert len(refs.long) == 1 and 2 <= len(refs.points) <= 4, item.item_id
        else:
            assert refs.short, item.item_id
        if item.domain == Domain.LONG_FORM_QA:
            assert refs.long, item.item_id


def test_a_summary_is_its_points_as_lines(items, responses):
    for response in responses:
        if items[response.item_id].domain == Domain.SUMMARISATION:
            assert 2 <= len(response.points) <= 4, response.item_id
            assert response.text == "\n".join(f"* {point}" for point in response.points)
        else:
            assert not response.points and "\n" not in response.text


def test_the_readme_says_that_the_ratings_are_constructed_and_counts_them_right(items, ratings):
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert "The ratings are constructed" in readme
    assert re.search(r"no evidence about any\s+metric", readme)
    assert "CC0" in readme
    for domain in EVALUATED_DOMAINS:
        counts = Counter(r.likert for r in ratings if items[r.item_id].domain == domain)
        cells = [counts[level] for level in range(1, 6)]
        row = " | ".join(map(str, [*cells, sum(cells)]))
        assert f"| `{domain.value}` | {row} |" in readme
