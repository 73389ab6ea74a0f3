"""The real sets, imported whole: counts are those of the folder's README, and single values those of the files."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict

import pytest

from faithfuse.datasets.items import check
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.ratings.base import write
from faithfuse.datasets.streams import iter_json_records
from faithfuse.llm.points import read_points

COUNTS = {
    # set: items, responses, ratings, abstentions, raters (dropped and noted counts are in the tests below)
    "evouna_nq": (3610 - 590, 5 * 3020, 5 * 3020, 1, 1),
    "evouna_tq": (1000 - 39, 5 * 961, 5 * 961, 0, 1),
    "openqa_eval": (301, 1490, 2 * 1490 + 1490 - 1267, 7, 3),
    "expertqa": (436 - 1, 435, 2529 - 2, 252, 296),
    "haluquestqa": (698, 698, 698, 0, 21),
    "factool_kbqa": (50, 50, 233, 0, 1),
    "factcheck_gpt": (94, 94, 678, 47, 1),
    "mtrag": (159, 477 - 159, 3 * 318 - 7, 0, 7),
    "begin_wow": (425 + 3170 - 120, 430 + 3607, 4037, 6, 1),
    "dialsummeval": (100, 1400 - 100, 3 * 1300, 0, 3),
    "faceval": (150, 750 - 150, 600, 0, 1),
    "summedits": (22 + 17, 664 + 431 - 39, 1056, 0, 1),
    "tofueval": (300 - 1, 1777 - 6, 4947 - 1 - 14, 0, 1),
    "storysumm": (96, 96, 579 - 7, 0, 1),
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_counts_are_those_of_the_data_readme(real, name):
    found = real(name)
    counts = found.card["counts"]
    assert (
        counts["items"],
        counts["responses"],
        counts["ratings"],
        counts["abstentions"],
        counts["raters"],
    ) == COUNTS[name]
    assert (len(found.items), len(found.responses), len(found.ratings)) == COUNTS[name][:3]


def test_every_published_set_is_imported():
    assert set(COUNTS) == set(IMPORTERS) - {"own"}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_the_workflow_accepts_what_is_imported(real, name, tmp_path):
    found = real(name)
    check(found.items, found.responses, found.ratings, tmp_path)
    # These two have no references: what needs none can use them, the metrics of the tables cannot.
    assert all(item.gold() for item in found.items) == (name not in ("factool_kbqa", "storysumm"))


@pytest.mark.parametrize("name", ["dialsummeval", "faceval"])
def test_summaries_without_recorded_points_would_be_cut_into_the_same_ones(real, name):
    found = real(name).responses
    assert [read_points(answer.text) for answer in found] == [answer.points for answer in found]


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_importing_twice_gives_the_same_bytes(real_data, tmp_path, name):
    files = []
    for turn in ("a", "b"):
        for _ in range(2 if turn == "a" else 1):
            write(IMPORTERS[name], real_data, tmp_path / turn, limit=20, seed=1, repair=name == "storysumm")
        files.append({path.name: path.read_bytes() for path in (tmp_path / turn).iterdir()})
    assert files[0] == files[1]
    assert len(files[0]) == 4


def test_a_set_in_its_own_folder_imports_as_from_the_data_folder(real, real_data, tmp_path):
    write(IMPORTERS["evouna_nq"], real_data / "human/evouna", tmp_path)
    assert (tmp_path / "items.jsonl").read_text(encoding="utf-8").count("\n") == len(real("evouna_nq").items)
    assert "NQ-open's own list" in (tmp_path / "card.json").read_text(encoding="utf-8")


class TestEvouna:
    def test_unfit_items_that_carry_a_judgement_are_those_of_the_readme(self, real):
        for name, carried, total in (("evouna_nq", 158, 590), ("evouna_tq", 24, 39)):
            found = real(name)
            reasons = {drop["reason"]: drop["count"] for drop in found.card["dropped"]}
            assert reasons["marked improper, though it carries a judgement"] == carried
            assert found.dropped("item") == total

    def test_judgements_are_those_of_the_file(self, real, real_data):
        records = json.loads((real_data / "human/evouna/NQ.json").read_text(encoding="utf-8"))
        fit = [record for record in records if not record["improper"]]
        by_system = Counter((rating.system, rating.likert) for rating in real("evouna_nq").ratings)
        for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
            assert by_system[system, 5] == sum(record[f"judge_{system}"] is True for record in fit)
            assert by_system[system, 1] == sum(record[f"judge_{system}"] is False for record in fit)

    def test_every_gold_answer_with_a_slash_is_cut_as_nq_open_has_it(self, real):
        found = real("evouna_nq")
        assert found.noted("NQ-open's own list") == 1330
        assert found.noted("split by rule") == 0
        answers = {alias for item in found.items for alias in item.references.short}
        assert {"1,228\xa0km/h", "160km/hour", "GNU/Linux", "CBC/Radio-Canada", "54\xa0Mbit/s"} <= answers
        assert "h" not in answers

    def test_the_rule_alone_cuts_nearly_all_of_them_right(self, real_data):
        from faithfuse.datasets.ratings.evouna import split_aliases

        path = real_data / "raw/natural_questions/nq_open/NQ-open.dev.jsonl"
        lists = [json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").splitlines()]
        joined = [answers for answers in lists if "/" in "/".join(answers)]
        wrong = [
            answers
            for answers in joined
            if split_aliases("/".join(answers)) != list(dict.fromkeys(map(str.strip, answers)))
        ]
        assert len(joined) > 1500
        assert len(wrong) <= 20

    def test_the_repeated_question_is_one_group(self, real):
        groups = Counter(item.group for item in real("evouna_nq").items)
        assert max(groups.values()) <= 2


class TestClaims:
    def test_expertqa_claims_are_abstained_on_where_they_are_unsure_or_null(self, real):
        found = real("expertqa")
        likert = Counter(rating.likert for rating in found.ratings)
        # 722 + 689 definitely correct and so on, less the two claims of the answer without a reference.
        assert likert[None] == 115 + 131 + 1 + 5
        assert likert[2] == 26 + 29
        assert likert[1] == 34 + 38 - 2
        assert likert[4] + likert[5] == 722 + 689 + 394 + 345

    def test_json_lines_in_a_file_named_json_are_read_as_they_are(self, real_data, real):
        records = list(iter_json_records(real_data / "human/expertqa/rand_lfqa_test.json"))
        assert [line for line, _ in records] == list(range(1, 220))
        asked = {item.question for item in real("expertqa").items}
        assert {record["question"] for _, record in records} <= asked

    def test_each_rated_claim_has_its_point(self, real):
        for name in ("expertqa", "factool_kbqa", "factcheck_gpt", "tofueval", "storysumm"):
            found = real(name)
            points = {(r.item_id, r.system): len(r.points) for r in found.responses}
            assert all(rating.point < points[rating.item_id, rating.system] for rating in found.ratings)

    def test_factool_answers_are_right_when_all_their_claims_are(self, real):
        found = real("factool_kbqa")
        claims = defaultdict(list)
        for rating in found.ratings:
            claims[rating.item_id].append(rating.likert == 5)
        assert all(item.provenance["label"] == all(claims[item.item_id]) for item in found.items)
        assert sum(not right for group in claims.values() for right in group) == 56

    def test_factcheck_labels_are_those_of_the_readme(self, real):
        likert = Counter(rating.likert for rating in real("factcheck_gpt").ratings)
        assert likert == {5: 472, 1: 159, None: 47}


class TestConversations:
    def test_mtrag_counts_of_raters_contexts_and_answerability(self, real):
        found = real("mtrag")
        assert found.noted("without documents") == 9
        assert found.dropped("response") == 159
        kinds = Counter(kind for item in found.items for kind in item.provenance["answerability"])
        assert kinds["UNANSWERABLE"] == 7
        assert kinds["PARTIAL"] == 15
        assert max(item.provenance["turn"] for item in found.items) == 12

    def test_mtrag_likert_is_faithful_when_the_rater_says_3_or_4(self, real):
        values = Counter((rating.likert, rating.faithful()) for rating in real("mtrag").ratings)
        assert {(round(likert, 3), faithful) for likert, faithful in values} == {
            (1, False),
            (2.333, False),
            (3.667, True),
            (5, True),
        }

    def test_begin_labels_are_those_of_the_readme(self, real):
        likert = Counter(rating.likert for rating in real("begin_wow").ratings)
        assert likert == {5: 180 + 1392, 1: 250 + 2209, None: 6}


class TestSummaries:
    def test_dialsummeval_turns_are_samsums_lines(self, real, real_data):
        lines = (real_data / "raw/samsum/samsum.test.jsonl").read_text(encoding="utf-8").splitlines()
        samsum = {record["id"]: record for record in map(json.loads, lines)}
        for item in real("dialsummeval").items:
            original = samsum[item.provenance["samsum_id"]]["dialogue"]
            assert len(item.context) == len(original.split("\n"))
            assert all(turn.speaker for turn in item.context)

    def test_dialsummeval_joins_with_the_authors_other_files_on_text(self, real, real_data):
        folder = real_data / "human/dialsummeval/models_eval_new"
        found = real("dialsummeval")
        by_text = {" ".join(turn.text for turn in item.context): item for item in found.items}
        summaries = {(r.item_id, r.system): r.text for r in found.responses}
        from faithfuse.datasets.ratings.dialsummeval import dialogue_turns

        # The dialogues hold a line separator of Unicode, which is no line end of these files.
        dialogues = (folder / "dials.txt").read_text(encoding="utf-8").split("\n")[:100]
        for system in ("B", "N"):
            lines = (folder / system / "summs.txt").read_text(encoding="utf-8").split("\n")[:100]
            for dialogue, line in zip(dialogues, lines, strict=True):
                item = by_text[" ".join(turn.text for turn in dialogue_turns(dialogue.strip()))]
                assert " ".join(summaries[item.item_id, system].split()) == " ".join(line.split())

    def test_dialsummeval_means_are_those_of_the_readme(self, real):
        means = defaultdict(list)
        for rating in real("dialsummeval").ratings:
            means[rating.system].append(rating.likert)
        by_mean = sorted(means, key=lambda system: sum(means[system]))
        assert (by_mean[0], by_mean[-1]) == ("E", "B")
        assert sum(means["E"]) / 300 == pytest.approx(1.7, abs=0.05)
        assert sum(means["B"]) / 300 == pytest.approx(4.4, abs=0.05)

    def test_faceval_has_as_many_summaries_with_an_error_as_its_file(self, real, real_data):
        with (real_data / "human/faceval/FacEval_human_result.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert sum(row["w/ Error"] == "yes" for row in rows) == 294
        of_systems = sum(row["w/ Error"] == "yes" for row in rows if row["Model"] != "human_ref")
        assert sum(rating.likert < 5 for rating in real("faceval").ratings) == of_systems

    def test_summedits_turns_are_found_where_newlines_were_lost(self, real, real_data):
        lines = (real_data / "raw/samsum/samsum.test.jsonl").read_text(encoding="utf-8").splitlines()
        assert lines
        for item in real("summedits").items:
            assert len(item.context) > 1
            assert all(turn.speaker for turn in item.context)
        consistent = sum(rating.likert == 5 for rating in real("summedits").ratings)
        assert consistent == 242 + 183 - 39

    def test_tofueval_is_for_evaluation_only_and_says_that_its_transcripts_are_missing(self, real):
        found = real("tofueval")
        assert found.card["evaluation_only"]
        assert all(item.provenance["context_missing"] for item in found.items)
        assert all(item.references.points for item in found.items)

    def test_storysumm_is_mended_at_the_line_the_readme_names(self, real, real_data, import_set):
        from faithfuse.errors import InputError

        assert real("storysumm").noted("stray quotation marks") == 1
        with pytest.raises(InputError, match=r"storysumm\.json:1455: .*--repair"):
            import_set("storysumm", real_data)


def test_answers_of_one_question_share_a_group_across_sets(real):
    """OpenQA-eval and EVOUNA both ask questions of NQ-open; no split may separate them."""
    groups = {name: {item.group for item in real(name).items} for name in ("evouna_nq", "openqa_eval")}
    assert len(groups["evouna_nq"] & groups["openqa_eval"]) > 100
    dialogues = {name: {item.group for item in real(name).items} for name in ("dialsummeval", "faceval")}
    assert dialogues["dialsummeval"] & dialogues["faceval"]
