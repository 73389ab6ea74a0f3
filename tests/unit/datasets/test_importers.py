"""The faults that published files have, each on a small file made here in the published layout."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import ClassVar

import pytest

from faithfuse.datasets.ratings import IMPORTERS, importer, refuse_training
from faithfuse.datasets.ratings.base import write
from faithfuse.datasets.ratings.evouna import SYSTEMS, split_aliases, undo_damage
from faithfuse.errors import InputError
from faithfuse.records import Domain


def write_lines(path: Path, records: list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_json(path: Path, value) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


def evouna(question="who wrote it", gold="Ann Lee", answer="Ann Lee", judge=True, improper=False, **changed):
    record = {"question": question, "golden_answer": gold, "improper": improper}
    for system in SYSTEMS:
        record |= {f"answer_{system}": answer, f"judge_{system}": judge}
    return record | changed


class TestEvouna:
    def test_the_text_nan_is_no_judgement_though_it_is_truthy(self, tmp_path, import_set):
        write_json(tmp_path / "TQ.json", [evouna(judge_fid="nan", judge_gpt4=None, judge_gpt35=False)])
        found = import_set("evouna_tq", tmp_path)
        likert = {rating.system: rating.likert for rating in found.ratings}
        assert likert == {"fid": None, "gpt4": None, "gpt35": 1, "chatgpt": 5, "newbing": 5}
        assert found.card["counts"]["abstentions"] == 2

    def test_an_unfit_item_is_dropped_by_its_flag_though_it_carries_a_judgement(self, tmp_path, import_set):
        write_json(tmp_path / "TQ.json", [evouna(), evouna(improper=True), evouna(improper=True, judge="nan")])
        found = import_set("evouna_tq", tmp_path)
        assert len(found.items) == 1
        assert {(d["reason"], d["count"]) for d in found.card["dropped"]} == {
            ("marked improper, though it carries a judgement", 1),
            ("marked improper", 1),
        }
        assert found.card["dropped"][0]["first"][0].startswith("TQ.json:")

    @pytest.mark.parametrize("judge", ["true", 1, "NaN", 0.0])
    def test_a_judgement_that_the_scale_does_not_know_is_refused_with_its_line(self, tmp_path, import_set, judge):
        path = write_json(tmp_path / "TQ.json", [evouna(), evouna(judge_fid=judge)])
        with pytest.raises(InputError, match="judge_fid is") as caught:
            import_set("evouna_tq", tmp_path)
        assert caught.value.path == path
        assert caught.value.line > 2

    def test_a_missing_answer_stays_null_with_a_reason(self, tmp_path, import_set):
        write_json(tmp_path / "TQ.json", [evouna(answer_newbing=None, answer_fid=" ")])
        reasons = {r.system: (r.text, r.reason) for r in import_set("evouna_tq", tmp_path).responses}
        assert reasons["newbing"] == (None, "no answer in the original file")
        assert reasons["fid"] == (None, "the answer is blank in the original file")
        assert reasons["gpt4"] == ("Ann Lee", None)

    @pytest.mark.parametrize(
        ("joined", "aliases"),
        [
            ("1,228\xa0km/h", ["1,228\xa0km/h"]),
            ("Gatiman/160km/hour/Mumbai Rajdhani Express", ["Gatiman", "160km/hour", "Mumbai Rajdhani Express"]),
            ("1.5\xa0Gbit/s", ["1.5\xa0Gbit/s"]),
            ("1938/1933/1912", ["1938", "1933", "1912"]),
            ("Cymru / Wales/Wales/Wales", ["Cymru / Wales", "Wales"]),
            ("Paris/", ["Paris/"]),
        ],
    )
    def test_a_slash_inside_an_answer_does_not_cut_it(self, joined, aliases):
        assert split_aliases(joined) == aliases

    def test_the_original_lists_decide_where_they_lie_beside_the_set(self, tmp_path, import_set):
        write_json(tmp_path / "NQ.json", [evouna("which kernel", "GNU/Linux/Linux"), evouna("which os", "A/B")])
        without = import_set("evouna_nq", tmp_path)
        assert without.items[0].references.short == ["GNU", "Linux"]
        write_lines(tmp_path / "NQ-open.dev.jsonl", [{"question": "which kernel", "answer": ["GNU/Linux", "Linux"]}])
        found = import_set("evouna_nq", tmp_path)
        assert found.items[0].references.short == ["GNU/Linux", "Linux"]
        assert found.noted("NQ-open's own list") == 1
        assert found.noted("split by rule") == 1

    def test_damaged_words_are_counted_and_mended_only_when_asked(self, tmp_path, import_set):
        write_json(tmp_path / "NQ.json", [evouna("what is finullcial risk", answer_fid="it was annulled")])
        assert import_set("evouna_nq", tmp_path).items[0].question == "what is finullcial risk"
        found = import_set("evouna_nq", tmp_path, repair=True)
        assert found.items[0].question == "what is financial risk"
        assert found.noted("mended") == 1
        assert undo_damage("null, annulled, nullify, Brennull") == "null, annulled, nullify, Brennan"

    def test_the_same_question_is_one_group_and_two_items(self, tmp_path, import_set):
        write_json(tmp_path / "TQ.json", [evouna("Who is it?"), evouna("who  is it")])
        items = import_set("evouna_tq", tmp_path).items
        assert len({item.item_id for item in items}) == 2
        assert len({item.group for item in items}) == 1


def haluquestqa_row(**changed):
    row = {
        "annotator": "e1",
        "question_text": "why is it so?",
        "ans1_text": "first\r\nanswer",
        "ans2_text": "second answer",
        "ans1_label": "human_answer",
        "ans2_label": "model_answer",
        "category": "law",
        "factuality_span": "['wrong one', \"it's wrong\"]",
        "factuality_label": "['answer1', 'answer2']",
        "factuality_model_score": "0.75",
    }
    return row | changed


def write_table(path: Path, rows: list[dict], delimiter: str = ",", **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter, **options)
        writer.writeheader()
        writer.writerows(rows)
    return path


class TestHaluQuestQa:
    def test_a_csv_that_is_separated_by_tabs_and_holds_python_lists(self, tmp_path, import_set):
        swapped = haluquestqa_row(question_text="and this?", ans1_label="model_answer", ans2_label="human_answer")
        write_table(tmp_path / "HaluQuestQA.csv", [haluquestqa_row(), swapped], "\t")
        found = import_set("haluquestqa", tmp_path)
        by_question = {item.question: item for item in found.items}
        answers = {response.item_id: response.text for response in found.responses}
        first, second = by_question["why is it so?"], by_question["and this?"]
        assert first.references.long == ["first\r\nanswer"]
        assert answers[first.item_id] == "second answer"
        assert second.references.long == ["second answer"]
        assert answers[second.item_id] == "first\r\nanswer"
        assert first.provenance["factual_error_spans"] == ["it's wrong"]
        assert second.provenance["factual_error_spans"] == ["wrong one"]
        assert [rating.likert for rating in found.ratings] == [4.0, 4.0]

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("factuality_model_score", "-1.0", "0 to 1"),
            ("factuality_model_score", "good", "0 to 1"),
            ("factuality_span", "['open", "no list of texts"),
            ("factuality_span", "__import__('os')", "no list of texts"),
            ("ans1_label", "model_answer", "labels its answers"),
        ],
    )
    def test_a_bad_cell_is_refused_with_its_line(self, tmp_path, import_set, column, value, message):
        rows = [haluquestqa_row(), haluquestqa_row(question_text="2", **{column: value})]
        write_table(tmp_path / "HaluQuestQA.csv", rows, "\t")
        with pytest.raises(InputError, match=message) as caught:
            import_set("haluquestqa", tmp_path)
        # The first row's answer spans two lines, so the second starts on line 4.
        assert caught.value.line == 4

    def test_a_comma_separated_copy_is_refused(self, tmp_path, import_set):
        write_table(tmp_path / "HaluQuestQA.csv", [haluquestqa_row()], ",")
        with pytest.raises(InputError, match="no column"):
            import_set("haluquestqa", tmp_path)


class TestExpertQa:
    def record(self, claims, revised="better", question="how?"):
        answer = {
            "answer_string": "an answer",
            "claims": claims,
            "revised_answer_string": revised,
            "attribution": ["[1] https://example.org"],
        }
        return {
            "question": question,
            "annotator_id": "x1",
            "answers": {"gpt4": answer},
            "metadata": {"field": "Law"},
        }

    def test_both_claim_schemas_nulls_and_unsure(self, tmp_path, import_set):
        claims = [
            {"claim_string": "a", "correctness": "Definitely correct", "revised_evidence": None},
            {"claim_string": "b", "correctness": "Unsure", "revised_claim_string": "b", "source_reliability": "x"},
            {"claim_string": "c", "correctness": None, "revised_evidence": ["u"]},
            {"claim_string": "d", "correctness": "Likely incorrect", "revised_evidence": "u"},
        ]
        write_lines(tmp_path / "rand_test.jsonl", [self.record(claims)])
        write_lines(tmp_path / "rand_val.jsonl", [self.record(claims, revised="", question="why?")])
        found = import_set("expertqa", tmp_path)
        assert found.responses[0].points == ["a", "b", "c", "d"]
        assert [rating.likert for rating in found.ratings] == [5, None, None, 2]
        assert found.dropped("item") == 1

    def test_an_unknown_label_is_refused(self, tmp_path, import_set):
        write_lines(tmp_path / "rand_test.jsonl", [self.record([{"claim_string": "a", "correctness": "Right"}])])
        write_lines(tmp_path / "rand_val.jsonl", [])
        with pytest.raises(InputError, match=r"rand_test\.jsonl:1: correctness is 'Right'"):
            import_set("expertqa", tmp_path)


class TestStorySumm:
    RECORD: ClassVar = {
        "label": 0,
        "story": "One.\nTwo: three.",
        "summary": ["A went.", "B came."],
        "errors": [1, 0],
        "split": "test",
        "model": "m",
    }

    def test_invalid_json_is_named_with_its_line_and_the_repair_is_offered(self, tmp_path, import_set):
        text = json.dumps({"k1": self.RECORD}, indent=1)
        lines = text.split("\n")
        place = next(i for i, line in enumerate(lines) if "A went." in line)
        lines[place] += ' "'
        path = tmp_path / "storysumm.json"
        path.write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(InputError, match="--repair") as caught:
            import_set("storysumm", tmp_path)
        assert caught.value.line == place + 1
        found = import_set("storysumm", tmp_path, repair=True)
        assert found.responses[0].points == ["A went.", "B came."]
        assert found.noted("stray quotation marks") == 1
        assert path.read_text(encoding="utf-8") == "\n".join(lines)

    def test_other_damage_is_not_repaired(self, tmp_path, import_set):
        (tmp_path / "storysumm.json").write_text('{"k": {"label": 0,}}', encoding="utf-8")
        for repair in (False, True):
            with pytest.raises(InputError, match="not valid JSON") as caught:
                import_set("storysumm", tmp_path, repair=repair)
            assert "--repair" not in str(caught.value)

    def test_a_missing_flag_leaves_the_record_unrated(self, tmp_path, import_set):
        short = {**self.RECORD, "errors": [1], "story": "x"}
        write_json(tmp_path / "storysumm.json", {"k1": self.RECORD, "k2": short})
        found = import_set("storysumm", tmp_path)
        assert len(found.responses) == 2
        assert len(found.ratings) == 2
        assert found.dropped("rating") == 2

    def test_a_colon_in_prose_names_no_speaker(self, tmp_path, import_set):
        write_json(tmp_path / "storysumm.json", {"k1": self.RECORD})
        assert {turn.speaker for turn in import_set("storysumm", tmp_path).items[0].context} == {""}


class TestOpenQaEval:
    HEADER = "id\tQuestion\tModel answer\tAcceptable?\tannotator1\tannotator2\tannotator3\n"

    def files(self, tmp_path, rows):
        (tmp_path / "NQ301_human.tsv").write_text(self.HEADER + rows, encoding="utf-8")
        gold = {"question": "q", "answer": ["g1", "g2"], "prediction": "p"}
        write_lines(tmp_path / "model_outputs/NQ301_text-davinci-003_zeroshot.jsonl", [gold])

    def test_votes_stay_single_and_the_third_is_there_only_when_asked(self, tmp_path, import_set):
        self.files(tmp_path, '1\tq\t"A" b\tYes\tYes\tNo\tYes\n1\tq\tc\tNo\tNo\t\t\n')
        found = import_set("openqa_eval", tmp_path)
        assert [(r.system, r.annotator, r.likert) for r in found.ratings] == [
            ("answer01", "annotator1", 5),
            ("answer01", "annotator2", 1),
            ("answer01", "annotator3", 5),
            ("answer02", "annotator1", 1),
            ("answer02", "annotator2", None),
        ]
        assert found.responses[0].text == '"A" b'
        assert found.items[0].references.short == ["g1", "g2"]

    def test_a_missing_tab_is_named_with_file_and_line(self, tmp_path, import_set):
        self.files(tmp_path, "1\tq\ta\tYes\tYes\tYes\t\n1\tqa\tYes\tYes\tYes\t\n")
        with pytest.raises(InputError, match=r"NQ301_human\.tsv:3: has 6 cells under 7 columns"):
            import_set("openqa_eval", tmp_path)


class TestMtrag:
    def files(self, tmp_path, value="4", reference_text="target"):
        def evaluation(model, text):
            return {
                "task_id": "c<::>1",
                "model_id": model,
                "model_response": text,
                "annotations": {"faithfulness": {"r1": {"value": value}, "r2": {"value": "2"}}},
            }

        task = {
            "task_id": "c<::>1",
            "input": [{"speaker": "user", "text": "q?"}],
            "contexts": [],
            "targets": [{"speaker": "agent", "text": "target"}],
            "Answerability": ["ANSWERABLE"],
            "Collection": "x",
            "Turn": "1",
        }
        write_json(
            tmp_path / "reference_subset_with_human_evaluations.json",
            {
                "documents": [],
                "tasks": [task],
                "evaluations": [evaluation("reference", reference_text), evaluation("gpt-4o", "an answer")],
            },
        )

    def test_numbers_are_texts_and_rows_of_the_reference_are_left_out(self, tmp_path, import_set):
        self.files(tmp_path)
        found = import_set("mtrag", tmp_path)
        assert [response.system for response in found.responses] == ["gpt-4o"]
        assert [rating.likert for rating in found.ratings] == [5.0, pytest.approx(1 + 4 / 3)]
        assert found.dropped("response") == 1
        assert found.items[0].provenance["turn"] == 1
        assert "no document" in found.items[0].provenance["context_missing"]

    @pytest.mark.parametrize("value", [4, "5", "", None])
    def test_a_rating_that_is_no_text_of_1_to_4_is_refused(self, tmp_path, import_set, value):
        self.files(tmp_path, value=value)
        with pytest.raises(InputError, match=r"faithfulness of c<::>1 gpt-4o by r1 is"):
            import_set("mtrag", tmp_path)


class TestSummaries:
    def dialsummeval(self, path, models="ABC", shuffle=False, **changed):
        ratings = [{"consistency": n, "relevance": 1, "fluency": 1, "coherence": 1} for n in (5, 4, 1)]
        records = [
            {
                "id": "7",
                "dialogue": "| Ann: hi | Bob: Ann: hi? | Ann: bye ",
                "summary": f"{model.lower()} left . {model.lower()} came .",
                "annotations": ratings,
                "model_id": model,
            }
            | changed
            for model in models
        ]
        write_lines(path / "human_judgment.jsonl", records[::-1] if shuffle else records)

    def test_dialsummeval_joins_on_id_and_system_in_any_order(self, tmp_path, import_set):
        self.dialsummeval(tmp_path)
        straight = import_set("dialsummeval", tmp_path)
        self.dialsummeval(tmp_path, shuffle=True)
        mixed = import_set("dialsummeval", tmp_path)
        assert mixed.responses == straight.responses
        assert mixed.ratings == straight.ratings
        assert mixed.items[0].references == straight.items[0].references
        assert straight.items[0].references.points == ["a left .", "a came ."]
        assert [turn.speaker for turn in straight.items[0].context] == ["Ann", "Bob", "Ann"]
        assert [rating.likert for rating in straight.ratings[:3]] == [5, 4, 1]

    def test_a_dialogue_without_its_reference_is_refused(self, tmp_path, import_set):
        self.dialsummeval(tmp_path, models="BC")
        with pytest.raises(InputError, match="no summary by system A"):
            import_set("dialsummeval", tmp_path)

    def test_a_rating_off_the_scale_is_refused(self, tmp_path, import_set):
        self.dialsummeval(tmp_path, annotations=[{"consistency": 7}])
        with pytest.raises(InputError, match=r"human_judgment\.jsonl:2: gives no valid Rating.*found 7"):
            import_set("dialsummeval", tmp_path)

    def test_faceval_refuses_a_row_that_contradicts_itself(self, tmp_path, import_set):
        row = {"DocID": "1", "Dialogue": "A: x\nB: y", "Model": "human_ref", "Summary": "A x."}
        row |= dict.fromkeys(("SubObjE", "ProE", "NegE", "ParE", "HalE", "OtherE"), "no") | {"w/ Error": "no"}
        wrong = {**row, "Model": "m", "NegE": "yes", "HalE": "yes", "w/ Error": "yes"}
        write_table(tmp_path / "FacEval_human_result.csv", [row, wrong])
        assert [rating.likert for rating in import_set("faceval", tmp_path).ratings] == [3]
        write_table(tmp_path / "FacEval_human_result.csv", [row, {**wrong, "w/ Error": "no"}])
        with pytest.raises(InputError, match="2 error types"):
            import_set("faceval", tmp_path)

    def test_tofueval_joins_sentences_in_order_and_leaves_out_a_copy(self, tmp_path, import_set):
        def row(index, sentence, label="yes"):
            return {
                "doc_id": "D1",
                "annotation_id": "1",
                "topic": "T",
                "model_name": "m",
                "sent_idx": str(index),
                "summ_sent": sentence,
                "sent_label": label,
            }

        points = {"doc_id": "D1", "topic": "T", "key_points": '["1. It\'s so.", \'2. "Yes"\']'}
        for name in ("mediasum", "meetingbank"):
            write_table(tmp_path / f"completeness/{name}_completeness_final.csv", [points])
            for split in ("dev", "test"):
                rows = [row(2, "Second.", "no"), row(1, "First."), row(1, "First.")]
                if (name, split) != ("mediasum", "dev"):
                    rows = [{**r, "model_name": f"{name}{split}"} for r in rows[:2]]
                write_table(tmp_path / f"factual_consistency/{name}_factual_eval_{split}.csv", rows)
        found = import_set("tofueval", tmp_path)
        assert found.responses[0].points == ["First.", "Second."]
        assert [rating.likert for rating in found.ratings[:2]] == [5, 1]
        assert found.dropped("sentence") == 1
        assert found.items[0].references.points == ["It's so.", '"Yes"']
        assert found.items[0].context == []
        assert found.card["evaluation_only"] is True


def test_training_on_a_set_for_evaluation_only_is_refused():
    refuse_training(["dialsummeval:1", "evouna_nq:0001", "own-item"])
    with pytest.raises(InputError, match="evaluation only"):
        refuse_training(["dialsummeval:1", "tofueval:0123456789abcdef"])


def test_an_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="dialsummeval"):
        importer("dialsum")


class TestOwn:
    ROW: ClassVar = {
        "item_id": "i1",
        "domain": "summarisation",
        "question": "",
        "context": "Ann: hi\nBob: hello",
        "references": "They greet. They stay.",
        "system": "s1",
        "response": "They greet. They leave.",
        "annotator": "r1",
        "point": "0",
        "likert": "5",
    }

    def write(self, path: Path, rows: list[dict]) -> Path:
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(stream.getvalue(), encoding="utf-8")
        return path

    def test_csv_and_json_lines_give_the_same_records(self, tmp_path, import_set):
        rows = [self.ROW, {**self.ROW, "point": "1", "likert": ""}, {**self.ROW, "annotator": "r2"}]
        path = self.write(tmp_path / "mine.csv", rows)
        from_csv = import_set("own", path)
        as_json = [
            {
                **row,
                "context": [{"speaker": "Ann", "text": "hi"}, {"speaker": "Bob", "text": "hello"}],
                "references": ["They greet. They stay."],
                "likert": float(row["likert"]) if row["likert"] else None,
                "point": int(row["point"]),
                "question": None,
            }
            for row in rows
        ]
        write_lines(tmp_path / "judgements.jsonl", as_json)
        from_json = import_set("own", tmp_path)
        assert from_csv.responses == from_json.responses
        assert from_csv.ratings == from_json.ratings
        assert from_csv.items[0].context == from_json.items[0].context
        assert from_csv.responses[0].points == ["They greet.", "They leave."]
        assert [rating.likert for rating in from_csv.ratings] == [5, None, 5]
        assert from_csv.items[0].domain == Domain.SUMMARISATION

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"likert": "7"}, "found 7.0"),
            ({"likert": "good"}, "no number"),
            ({"point": "0.5"}, "no number"),
            ({"annotator": "r1"}, "a second rating by the same person; the first is in line 2"),
            ({"domain": "poetry"}, "domain"),
            ({"response": "They never met."}, "gives the same response otherwise than line 2"),
            ({"references": "Else."}, "gives the same item otherwise than line 2"),
            ({"annotator": ""}, "without an annotator"),
            ({"context": ""}, "needs a context"),
        ],
    )
    def test_a_mistake_is_named_with_file_and_line(self, tmp_path, import_set, changed, message):
        path = self.write(tmp_path / "judgements.csv", [self.ROW, {**self.ROW, "annotator": "r2", **changed}])
        with pytest.raises(InputError, match=message) as caught:
            import_set("own", tmp_path)
        assert caught.value.path == path
        assert caught.value.line == 4

    def test_a_misspelt_column_is_no_silent_loss(self, tmp_path, import_set):
        self.write(tmp_path / "judgements.csv", [{**self.ROW, "likerts": "3"}])
        with pytest.raises(InputError, match="unknown column 'likerts'"):
            import_set("own", tmp_path)

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"likert": True}, "no number"),
            ({"point": 0.5}, "no number"),
            ({"question": 5}, "question is 5, not a text or null"),
            ({"system": None}, "system is None, not a text"),
        ],
    )
    def test_a_value_of_another_type_is_no_rating_by_chance(self, tmp_path, import_set, changed, message):
        write_lines(tmp_path / "judgements.jsonl", [{**self.ROW, **changed}])
        with pytest.raises(InputError, match=message) as caught:
            import_set("own", tmp_path)
        assert caught.value.line == 1


def test_a_question_that_a_set_gives_twice_is_refused_with_its_place(tmp_path, import_set):
    claim = {"prompt": "Who?", "response": "Ada.", "claims": [], "label": True}
    write_lines(tmp_path / "knowledge_qa.jsonl", [{**claim, "prompt": "What?"}, claim, claim])
    with pytest.raises(InputError, match="two Item records with one key, the first of an item read here") as caught:
        import_set("factool_kbqa", tmp_path)
    assert (caught.value.path, caught.value.line) == ("knowledge_qa.jsonl", 2)


def test_a_failed_import_leaves_the_earlier_one(tmp_path):
    out = tmp_path / "out"
    write_json(tmp_path / "TQ.json", [evouna()])
    write(IMPORTERS["evouna_tq"], tmp_path, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write_json(tmp_path / "TQ.json", [evouna(), evouna(judge_fid="maybe")])
    with pytest.raises(InputError):
        write(IMPORTERS["evouna_tq"], tmp_path, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_draw_keeps_all_responses_and_ratings_of_its_items(tmp_path, import_set):
    write_json(tmp_path / "TQ.json", [evouna(f"question {n}") for n in range(20)])
    whole, drawn = import_set("evouna_tq", tmp_path), import_set("evouna_tq", tmp_path, limit=5, seed=3)
    ids = {item.item_id for item in drawn.items}
    assert len(ids) == 5
    assert drawn.responses == [r for r in whole.responses if r.item_id in ids]
    assert drawn.ratings == [r for r in whole.ratings if r.item_id in ids]
    assert drawn.card["selection"] == {"items": 5, "of": 20, "seed": 3}


def test_only_the_systems_asked_for_are_kept(tmp_path, import_set):
    write_json(tmp_path / "TQ.json", [evouna()])
    found = import_set("evouna_tq", tmp_path, systems=["fid", "gpt4"])
    assert {response.system for response in found.responses} == {"fid", "gpt4"}
    with pytest.raises(InputError, match="gpt5"):
        import_set("evouna_tq", tmp_path, systems=["gpt5"])


def test_a_missing_file_is_named_with_the_folder(tmp_path, import_set):
    with pytest.raises(InputError, match=r"has no human_judgment\.jsonl"):
        import_set("dialsummeval", tmp_path)
