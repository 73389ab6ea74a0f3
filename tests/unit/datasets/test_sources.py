"""The eight source sets in one schema: filters, spans and key points, and every original turn restored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithfuse.datasets.schema import KINDS, Subset
from faithfuse.datasets.sources import SOURCES, dstc3, multiwoz22, sgd, source_set, spokenwoz
from faithfuse.datasets.sources.base import load
from faithfuse.datasets.sources.natural_questions import text_of
from faithfuse.datasets.sources.qaconv import locate
from faithfuse.datasets.streams import iter_json_array, iter_json_object, iter_json_records
from faithfuse.errors import InputError
from faithfuse.records import Domain, read_records


def write_lines(path: Path, records: list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_json(path: Path, value) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


@pytest.fixture
def load_set(tmp_path):
    """Load a source set, and give its records by id and its card."""

    def run(name: str, root: Path):
        out = tmp_path / f"out-{name}"
        card = load(SOURCES[name], root, out)
        records = read_records(out / "records.jsonl", KINDS[SOURCES[name].subset])
        return {record.record_id: record for record in records}, card

    return run


def reasons(card) -> dict[str, int]:
    return {drop["reason"]: drop["count"] for drop in card["dropped"]}


class TestNaturalQuestions:
    TEXT = (
        "Title <P> The `` Big '' one  is  here . </P> <Table> <Tr> <Td> 7 </Td> </Tr> </Table> "
        "<P> It is <Li> x </Li> </P>"
    )
    WORDS = TEXT.split(" ")
    PARAGRAPH = (WORDS.index("<P>"), WORDS.index("</P>") + 1)
    TABLE = (WORDS.index("<Table>"), WORDS.index("</Table>") + 1)
    LIST = (WORDS.index("</Table>") + 1, len(WORDS))
    NONE = (-1, -1)

    def annotation(self, long, short=(), yes_no="NONE"):
        return {
            "annotation_id": 1,
            "yes_no_answer": yes_no,
            "long_answer": {
                "candidate_index": -1 if long == self.NONE else 0,
                "start_token": long[0],
                "end_token": long[1],
            },
            "short_answers": [{"start_token": start, "end_token": end} for start, end in short],
        }

    def record(self, example_id, *annotations, question="which one"):
        return {
            "example_id": example_id,
            "question_text": question,
            "document_text": self.TEXT,
            "annotations": list(annotations),
        }

    def load(self, tmp_path, load_set, *records):
        write_lines(tmp_path / "v1.0-simplified_simplified-nq-train.jsonl", list(records))
        return load_set("natural_questions", tmp_path)

    def test_offsets_count_single_blanks_and_quotation_marks_become_plain(self, tmp_path, load_set):
        big = (self.WORDS.index("``"), self.WORDS.index("''") + 1)
        records, _ = self.load(tmp_path, load_set, self.record(-5, self.annotation(self.PARAGRAPH, [big])))
        record = records["natural_questions:-5"]
        assert record.long_answers == ['The " Big " one is here .']
        assert record.short_answers == ['" Big "']
        assert record.split == "train"
        assert [item.domain for item in record.items()] == [Domain.SHORT_FORM_QA, Domain.LONG_FORM_QA]

    def test_ids_may_be_integers_or_texts_and_are_one_id(self, tmp_path, load_set):
        annotation = self.annotation(self.PARAGRAPH)
        records, card = self.load(tmp_path, load_set, self.record(7, annotation), self.record("7", annotation))
        assert list(records) == ["natural_questions:7"]
        assert reasons(card) == {"the id is there already": 1}

    @pytest.mark.parametrize(
        ("longs", "kept"),
        [
            (["PARAGRAPH"] * 5, True),
            (["PARAGRAPH"] + ["NONE"] * 4, True),
            (["PARAGRAPH"] * 2 + ["NONE"] * 3, False),
            (["PARAGRAPH", "LIST", "NONE", "NONE", "NONE"], False),
            (["NONE"] * 5, False),
        ],
    )
    def test_a_pair_is_kept_when_all_agree_on_the_long_answer_or_only_one_gave_it(
        self, tmp_path, load_set, longs, kept
    ):
        annotations = [self.annotation(getattr(self, name)) for name in longs]
        records, card = self.load(tmp_path, load_set, self.record(1, *annotations))
        assert bool(records) == kept
        assert sum(reasons(card).values()) == (not kept)

    def test_answers_with_html_are_removed_and_the_sample_with_them_if_nothing_is_left(self, tmp_path, load_set):
        seven = (self.WORDS.index("7"), self.WORDS.index("7") + 1)
        records, card = self.load(
            tmp_path,
            load_set,
            self.record(1, self.annotation(self.TABLE)),
            self.record(2, self.annotation(self.TABLE, [seven])),
            self.record(3, self.annotation(self.LIST, [(self.TABLE[0], self.TABLE[0] + 3)])),
            self.record(4, self.annotation(self.TABLE, yes_no="YES")),
        )
        assert {key: (r.short_answers, r.long_answers) for key, r in records.items()} == {
            "natural_questions:2": (["7"], []),
            "natural_questions:4": (["yes"], []),
        }
        counted = {(d["what"], d["count"]) for d in card["dropped"]}
        assert counted == {("long answer", 4), ("short answer", 1), ("sample", 2)}

    def test_all_short_answers_of_all_annotators_are_kept_once(self, tmp_path, load_set):
        one, here = ((self.WORDS.index(w), self.WORDS.index(w) + 1) for w in ("one", "here"))
        annotations = [self.annotation(self.PARAGRAPH, [one]), self.annotation(self.PARAGRAPH, [one, here])]
        records, _ = self.load(tmp_path, load_set, self.record(1, *annotations))
        assert records["natural_questions:1"].short_answers == ["one", "here"]

    def test_the_full_format_gives_the_same_as_the_simplified_one(self, tmp_path, load_set):
        simplified = self.record(1, self.annotation(self.PARAGRAPH))
        full = {key: value for key, value in simplified.items() if key != "document_text"}
        full["document_tokens"] = [
            {"token": token, "html_token": token.startswith("<"), "start_byte": 0, "end_byte": 0}
            for token in self.WORDS
        ]
        first, _ = self.load(tmp_path / "a", load_set, simplified)
        second, _ = self.load(tmp_path / "b", load_set, full)
        assert first["natural_questions:1"].long_answers == second["natural_questions:1"].long_answers

    def test_an_answer_outside_the_document_is_refused_with_its_line(self, tmp_path, load_set):
        with pytest.raises(InputError, match=r"train\.jsonl:2: has an answer at tokens"):
            self.load(
                tmp_path,
                load_set,
                self.record(1, self.annotation(self.PARAGRAPH)),
                self.record(2, self.annotation((3, 9999))),
            )

    def test_the_paragraphs_own_tags_are_no_html(self):
        tags = [("<P>", True), ("x", False), ("</P>", True)]
        assert text_of(tags) == "x"
        assert text_of([*tags[1:2], ("<Br>", True)]) is None

    def test_the_real_samples(self, real_data, load_set):
        records, card = load_set("natural_questions", real_data)
        assert len(records) == 6
        # Two of five annotators of the full record gave a long answer: neither all nor only one.
        assert reasons(card)["some annotators, but not all, give a long answer"] == 1
        assert reasons(card)["no annotations (a test file)"] == 1
        assert not any("<" in text for r in records.values() for text in r.long_answers + r.short_answers)
        mother = records["natural_questions:5328212470870865242"]
        assert mother.short_answers == ["Tracy McConnell"]


class TestPopQa:
    HEADER = (
        "id\tsubj\tprop\tobj\tsubj_id\tprop_id\tobj_id\ts_aliases\to_aliases\ts_uri\to_uri\ts_wiki_title\t"
        "o_wiki_title\ts_pop\to_pop\tquestion\tpossible_answers\n"
    )
    ROW = '{}\tAnn\tmother\tEve\t1\t2\t3\t[]\t"[""Eva""]"\tu\tu\tAnn\tEve\t5\t6\tWho?\t"[""Eve"", ""Evi""]"\n'

    def test_rows_with_invalid_utf8_are_dropped_and_counted(self, tmp_path, load_set):
        rows = [self.ROW.format(n).encode() for n in (1, 2, 3)]
        rows[1] = rows[1].replace(b"Ann", b"Ann\xff")
        rows[2] = rows[2].replace(b"Eva", "Ev\ufffd".encode())
        (tmp_path / "popQA.tsv").write_bytes(self.HEADER.encode() + b"".join(rows))
        records, card = load_set("popqa", tmp_path)
        assert list(records) == ["popqa:1"]
        assert {d["reason"]: d["first"] for d in card["dropped"]} == {
            "invalid UTF-8": ["popQA.tsv:3"],
            "replacement character U+FFFD": ["popQA.tsv:4"],
        }

    def test_answers_and_aliases_are_one_list_and_the_fact_is_kept(self, tmp_path, load_set):
        (tmp_path / "popQA.tsv").write_text(self.HEADER + self.ROW.format(1), encoding="utf-8")
        record = load_set("popqa", tmp_path)[0]["popqa:1"]
        assert record.short_answers == ["Eve", "Evi", "Eva"]
        assert record.fact.model_dump() == {
            "subject": "Ann",
            "relation": "mother",
            "object": "Eve",
            "subject_id": "1",
            "relation_id": "2",
            "object_id": "3",
        }

    def test_a_list_that_is_no_json_is_refused_with_its_line(self, tmp_path, load_set):
        (tmp_path / "popQA.tsv").write_text(
            self.HEADER + self.ROW.format(1).replace('"[""Eva""]"', "['Eva']"), encoding="utf-8"
        )
        with pytest.raises(InputError, match=r"popQA\.tsv:2: o_aliases is no JSON list"):
            load_set("popqa", tmp_path)

    def test_the_real_rows(self, real_data, load_set):
        records, card = load_set("popqa", real_data)
        assert len(records) == 1000
        assert card["dropped"] == []
        assert len({record.question for record in records.values()}) == 986
        assert len({record.fact.relation for record in records.values()}) == 16


class TestQaConv:
    def files(self, tmp_path, questions, name="article_segment.json"):
        turns = [
            {"id": "n-1", "speaker": "ANN LEE, HOST", "text": "Call 800. Call 800 now, Bob."},
            {"id": "n-2", "speaker": "BOB", "text": "Fort Lauderdale"},
        ]
        before = [{"id": "n-0", "speaker": "BOB", "text": "Earlier"}]
        write_json(tmp_path / name, {"newsdial-1": {"prev_ctx": before, "seg_dialog": turns, "word_count": 9}})
        base = {
            "article_segment_id": "newsdial-1",
            "article_full_id": ["newsidal-1", "newsidal-2"],
            "QG": False,
            "question": "q?",
        }
        write_json(tmp_path / "tst.json", [{**base, "id": f"tst-{n}", **q} for n, q in enumerate(questions)])

    def test_every_occurrence_of_an_answer_is_located_by_turn_and_offset(self, tmp_path, load_set):
        self.files(tmp_path, [{"answers": ["800", "fort lauderdale", "Paris"]}])
        records, card = load_set("qaconv", tmp_path)
        record = records["qaconv:tst-0"]
        assert [(s.answer, s.turn_id, s.start, s.end) for s in record.answer_spans] == [
            ("800", "n-1", 5, 8),
            ("800", "n-1", 15, 18),
            ("fort lauderdale", "n-2", 0, 15),
        ]
        assert card["notes"] == [{"what": "answers found nowhere in their dialogue (no span)", "count": 1}]
        assert record.sources == ["newsdial-1", "newsidal-1", "newsidal-2"]
        assert [turn.turn_id for turn in record.previous_turns] == ["n-0"]
        assert record.split == "test"

    def test_no_answers_is_unanswerable(self, tmp_path, load_set):
        self.files(tmp_path, [{"answers": []}])
        record = load_set("qaconv", tmp_path)[0]["qaconv:tst-0"]
        assert not record.answerable
        assert record.answers == []
        assert record.items()[0].references.short == ["unanswerable"]

    def test_a_question_without_its_dialogue_is_dropped_and_counted(self, tmp_path, load_set):
        self.files(tmp_path, [{"answers": ["x"], "article_segment_id": "newsdial-2"}, {"answers": ["800"]}])
        records, card = load_set("qaconv", tmp_path)
        assert list(records) == ["qaconv:tst-1"]
        assert reasons(card) == {"its dialogue is not in article_segment.json": 1}

    def test_a_letter_whose_lower_case_is_longer_does_not_shift_a_span(self):
        turn = KINDS[Subset.CONVERSATIONAL_QA].model_fields["dialogue"].annotation.__args__[0]
        dialogue = [turn(turn_id="t", speaker="A", text="İzmir and ankara")]
        assert locate("Ankara", dialogue) == []
        assert [span.start for span in locate("ankara", dialogue)] == [10]

    def test_the_real_questions(self, real_data, load_set):
        records, card = load_set("qaconv", real_data)
        assert len(records) == 2
        assert reasons(card)["its dialogue is not in article_segment.json"] == 3503 + 3414 + 500 - 2


class TestSamSum:
    def test_mixed_line_ends_placeholders_and_emoji(self, tmp_path, load_set):
        dialogue = "Ann: hi \U0001f44b\r\nBob: <file_photo>\nAnn: a\u2028b\r\n"
        sample = {"id": "13728057-1", "dialogue": dialogue, "summary": "Ann greets Bob. He sends a photo. "}
        write_json(tmp_path / "train.json", [sample, {**sample, "id": "2", "dialogue": ""}])
        records, card = load_set("samsum", tmp_path)
        record = records["samsum:13728057-1"]
        texts = [(turn.speaker, turn.text) for turn in record.dialogue]
        assert texts == [("Ann", "hi \U0001f44b"), ("Bob", "<file_photo>"), ("Ann", "a\u2028b")]
        assert record.summary == "Ann greets Bob. He sends a photo."
        assert record.key_points == ["Ann greets Bob.", "He sends a photo."]
        assert reasons(card) == {"empty dialogue or summary": 1}

    def test_the_real_samples(self, real_data, load_set):
        records, _ = load_set("samsum", real_data)
        test = [record for record in records.values() if record.split == "test"]
        assert len(test) == 819
        assert len(records) == 829
        assert sum(len({turn.speaker for turn in record.dialogue}) > 2 for record in test) == pytest.approx(197, abs=3)
        assert all(" ".join(record.key_points).split() == record.summary.split() for record in test)
        assert sum(any("<file_" in turn.text for turn in record.dialogue) for record in test) <= 133


class TestRoundTrips:
    """Each original turn in the unified form and back is the original turn."""

    def test_every_real_turn_of_sgd(self, real_data):
        turns = 0
        for path in sorted((real_data / "raw/sgd").glob("*/dialogues_*.json")):
            for _, dialogue in iter_json_records(path):
                for number, turn in enumerate(dialogue["turns"]):
                    assert sgd.to_original(sgd.from_original(turn, number)) == turn
                    turns += 1
        assert turns == 2430

    def test_every_real_turn_of_multiwoz(self, real_data):
        folder = real_data / "raw/multiwoz22"
        acts = {name: entry for _, name, entry in iter_json_object(folder / "hf_truncated/dialog_acts.json")}
        paths = [folder / "dialogstudio_original_examples.json", *sorted(folder.glob("hf_truncated/*/*.json"))]
        turns = with_acts = 0
        for path in paths:
            for _, dialogue in iter_json_array(path):
                for turn in dialogue["turns"]:
                    entry = acts.get(dialogue["dialogue_id"], {}).get(turn["turn_id"])
                    original = multiwoz22.OriginalTurn(turn, entry)
                    assert multiwoz22.to_original(multiwoz22.from_original(original)) == original
                    turns += 1
                    with_acts += entry is not None
        assert turns == 46 + 2 * 21
        assert with_acts >= 42

    def test_every_real_utterance_of_the_converted_dstc3(self, real_data):
        path = real_data / "raw/dstc3/json/dstc3_train.json"
        utterances = [
            (number, utterance)
            for _, corpus in iter_json_records(path)
            for dialogue in corpus["dialogues"]
            for number, utterance in enumerate(dialogue["utterances"])
        ]
        assert len(utterances) == 280
        for number, utterance in utterances:
            assert dstc3.to_converted(dstc3.from_converted(utterance, number)) == utterance

    def test_every_real_transcript_of_spokenwoz(self, real_data):
        paths = sorted((real_data / "raw/spokenwoz/text").glob("*.json"))
        assert len(paths) == 10
        for path in paths:
            words = json.loads(path.read_text(encoding="utf-8"))
            assert spokenwoz.to_words(spokenwoz.from_words(words)) == words

    def test_a_constructed_call_of_dstc3_in_the_original_layout(self, tmp_path, load_set):
        log = {
            "session-id": "voip-1",
            "session-date": "2012-01-01",
            "caller-id": "c",
            "turns": [
                {
                    "turn-index": 0,
                    "output": {
                        "transcript": "57 places. Which area?",
                        "dialog-acts": [
                            {"act": "inform", "slots": [["count", 57]]},
                            {"act": "request", "slots": [["slot", "area"]]},
                            {"act": "inform", "slots": []},
                        ],
                        "start-time": 0.1,
                        "end-time": 2.5,
                        "aborted": False,
                    },
                    "input": {"live": {"asr-hyps": [{"asr-hyp": "north", "score": -0.1}], "slu-hyps": []}},
                }
            ],
        }
        semantics = {
            "cam": "inform(area=north,food=thai)",
            "json": [
                {"act": "inform", "slots": [["area", "north"]]},
                {"act": "ack", "slots": []},
                {"act": "inform", "slots": [["food", "thai"], ["type", "pub"]]},
            ],
        }
        label = {
            "session-id": "voip-1",
            "turns": [
                {
                    "turn-index": 0,
                    "transcription": "north thai pub",
                    "semantics": semantics,
                    "goal-labels": {"area": "north"},
                    "method-label": "byconstraints",
                    "requested-slots": [],
                }
            ],
        }
        write_json(tmp_path / "Mar12/voip-1/log.json", log)
        write_json(tmp_path / "Mar12/voip-1/label.json", label)
        records, _ = load_set("dstc3", tmp_path)
        record = records["dstc3:voip-1"]
        assert dstc3.to_original(record.turns) == dstc3.Call(log["turns"][0], label["turns"][0])
        user = record.turns[1]
        assert user.acts == ["inform", "ack"]
        assert user.act_slots == [["area", "food", "type"], [None]]
        assert user.act_slot_values == [[["north"], ["thai"], ["pub"]], [[]]]
        values = {entry.slot: entry.values for entry in record.summary.slots}
        assert values == {"count": ["57"], "slot": ["area"], "area": ["north"], "food": ["thai"], "type": ["pub"]}
        assert record.summary.utterances == ["57 places. Which area?", "north thai pub"]

    def test_a_call_without_its_label_is_refused(self, tmp_path, load_set):
        write_json(tmp_path / "x/log.json", {"session-id": "1", "turns": []})
        with pytest.raises(InputError, match=r"no label\.json"):
            load_set("dstc3", tmp_path)

    def test_a_constructed_dialogue_of_spokenwoz_in_the_original_layout(self, tmp_path, load_set):
        log = [
            {
                "tag": "user",
                "text": "a hotel in the north",
                "dialog_act": {"Hotel-Inform": [["area", "north"], ["none", "none"]], "General-Greet": []},
                "span_info": [["Hotel-Inform", "area", "north", 4, 5]],
                "metadata": {},
                "words": [{"Word": "a", "BeginTime": 10}],
            },
            {"tag": "system", "text": "ok", "dialog_act": {"Hotel-Inform": [["stars", 4]]}, "metadata": {"hotel": {}}},
            {"tag": "user", "text": "thanks"},
        ]
        write_json(tmp_path / "data.json", {"MUL0001": {"goal": {"hotel": {}}, "log": log}})
        records, _ = load_set("spokenwoz", tmp_path)
        record = records["spokenwoz:MUL0001"]
        assert [spokenwoz.to_original(turn) for turn in record.turns] == log
        assert record.services == ["hotel"]
        assert [turn.speaker for turn in record.turns] == ["USER", "SYSTEM", "USER"]
        assert json.loads(record.extra) == {"goal": {"hotel": {}}}

    def test_a_slot_of_multiwoz_that_is_copied_from_another_one_and_has_a_list_of_values(self, tmp_path, load_set):
        span = {"slot": "taxi-destination", "copy_from": "hotel-name", "value": ["acorn house", "the acorn house"]}
        frame = {"service": "taxi", "slots": [span], "actions": []}
        turn = {"turn_id": "0", "speaker": "SYSTEM", "utterance": "Booked.", "frames": [frame]}
        dialogue = {"dialogue_id": "M.json", "services": ["taxi"], "turns": [turn]}
        write_json(tmp_path / "train/dialogues_001.json", [dialogue])
        records, _ = load_set("multiwoz22", tmp_path)
        (restored,) = (multiwoz22.to_original(part) for part in records["multiwoz22:M"].turns)
        assert restored == multiwoz22.OriginalTurn(turn, None)
        (slot,) = records["multiwoz22:M"].summary.slots
        assert (slot.slot, slot.values) == ("taxi-destination", ["acorn house", "the acorn house"])


class TestTaskOriented:
    def test_acts_slots_and_values_correspond_by_index(self):
        turn = {
            "speaker": "SYSTEM",
            "utterance": "Pub in the north. Which price?",
            "frames": [
                {
                    "service": "s",
                    "slots": [],
                    "actions": [
                        {"act": "INFORM", "slot": "area", "values": ["north"], "canonical_values": ["n"]},
                        {"act": "REQUEST", "slot": "price", "values": [], "canonical_values": []},
                        {"act": "INFORM", "slot": "type", "values": ["pub", "bar"], "canonical_values": ["pub"]},
                    ],
                }
            ],
        }
        unified = sgd.from_original(turn, 3)
        assert unified.acts == ["INFORM", "REQUEST"]
        assert unified.act_slots == [["area", "type"], ["price"]]
        assert unified.act_slot_values == [[["north"], ["pub", "bar"]], [[]]]
        assert unified.act_positions == [[0, 2], [1]]
        assert sgd.to_original(unified) == turn

    def test_real_dialogues_of_all_four_sets_have_a_summary_of_all_their_utterances(self, real_data, load_set):
        found = {"sgd": 144, "dstc3": 41, "spokenwoz": 10, "multiwoz22": 25}
        for name, count in found.items():
            records, _ = load_set(name, real_data)
            assert len(records) == count
            for record in records.values():
                assert record.summary.utterances == [turn.utterance for turn in record.turns]
                assert all(len(turn.acts) == len(turn.act_slots) == len(turn.act_slot_values) for turn in record.turns)
                spoken = {act for turn in record.turns for act in turn.acts if act}
                assert set(record.summary.acts) == spoken

    def test_a_dialogue_without_services_is_kept(self, real_data, load_set):
        assert load_set("multiwoz22", real_data)[0]["multiwoz22:SNG01678"].services == []


def test_loading_twice_gives_the_same_bytes(real_data, tmp_path):
    for out in ("a", "b"):
        load(SOURCES["dstc3"], real_data, tmp_path / out)
    for name in ("records.jsonl", "card.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_folder_without_the_set_is_refused(tmp_path, load_set):
    for name in SOURCES:
        with pytest.raises(InputError, match="has n"):
            load_set(name, tmp_path)


def test_an_unknown_source_set_is_refused():
    with pytest.raises(InputError, match="samsum"):
        source_set("samsung")
