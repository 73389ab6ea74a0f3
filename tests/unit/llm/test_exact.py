"""The fast path says what the plain forward pass of the same weights says (transformers, batch 1, float32)."""

from __future__ import annotations

import math
import random

import pytest
import torch

from faithfuse.errors import InputError
from faithfuse.llm.generate import respond
from faithfuse.llm.judge import confidence, expected_likert, greedy_likert, judge
from faithfuse.llm.likelihood import likelihood
from faithfuse.llm.tree import build_tree
from faithfuse.records import Response


def plain_logprobs(model, prompt, reply):
    """Log-probability of each reply token from one unshared, unbatched forward pass."""
    model.network.set_attn_implementation("sdpa")
    try:
        with torch.inference_mode():
            logits = model.network(torch.tensor([[*prompt, *reply]]), use_cache=False).logits[0].float()
    finally:
        model.network.set_attn_implementation("faithfuse_tree")
    rows = logits.log_softmax(-1)[len(prompt) - 1 : -1]
    return rows.gather(1, torch.tensor(reply)[:, None])[:, 0].tolist()


def plain_greedy(model, prompt, limit):
    """transformers' own `generate`, batch 1."""
    model.network.set_attn_implementation("sdpa")
    try:
        out = model.network.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=limit,
            do_sample=False,
            pad_token_id=0,
        )
    finally:
        model.network.set_attn_implementation("faithfuse_tree")
    return out[0, len(prompt) :].tolist()


@pytest.mark.parametrize("chunk", [1, 3, 8, 1000])
def test_a_tree_lets_each_token_see_its_own_prompt_and_nothing_else(chunk):
    draw = random.Random(chunk)
    groups = [
        [[draw.randrange(3) for _ in range(draw.randrange(1, 9))] for _ in range(draw.randrange(1, 6))]
        for _ in range(4)
    ]
    tree = build_tree(groups, chunk)
    sees = {}
    for segment in tree.segments:
        above = [node for start, stop in segment.spans for node in range(start, stop)]
        for row in range(segment.start, segment.stop):
            inside = segment.allowed[row - segment.start].nonzero()[:, 0].tolist()
            sees[row] = {*above, *(segment.start + n for n in inside)}
    assert sorted(sees) == list(range(len(tree.tokens)))
    for sequence, path in zip([s for group in groups for s in group], tree.paths, strict=True):
        assert [tree.tokens[row] for row in path] == sequence
        for depth, row in enumerate(path):
            assert sees[row] == set(path[: depth + 1])
            assert tree.depths[row] == depth


def test_scores_equal_unshared_forward_passes(tiny):
    draw = random.Random(1)
    shared = [draw.randrange(6, 800) for _ in range(40)]
    stems = [[draw.randrange(6, 800) for _ in range(12)] for _ in range(3)]
    groups = [
        [
            ([*stem, *(draw.randrange(6, 800) for _ in range(n))], [draw.randrange(6, 800) for _ in range(1 + n % 3)])
            for n in range(1, 7)
        ]
        for stem in stems
    ]
    scored, _ = tiny.score(tiny.encode_prefix(shared), groups)
    pairs = [pair for group in groups for pair in group]
    for (prompt, reply), result in zip(pairs, scored, strict=True):
        assert result.logprobs == pytest.approx(plain_logprobs(tiny, [*shared, *prompt], reply), abs=1e-4)


def test_answers_equal_transformers_generate_token_for_token(tiny, prompts, study):
    items, _ = study
    for response, item in zip(respond(items, tiny, prompts, max_new_tokens=24), sorted_by_domain(items), strict=True):
        expected = plain_greedy(tiny, tiny.prompt_ids(prompts.answering(item)), 24)
        assert response.response_tokens == len(expected)
        assert response.text == tiny.decode(expected).strip()
        assert response.hit_token_limit == (expected[-1] not in tiny.end_tokens)


def sorted_by_domain(items):
    from faithfuse.records import Domain

    return [item for domain in Domain for item in items if item.domain == domain]


def test_several_end_tokens_all_end_a_turn(tiny):
    assert tiny.end_tokens == {1, 4, 5}
    assert tiny.extend([], *started(tiny), first=[4], limits=[8]) == [[4]]


def started(tiny):
    _, state = tiny.prefill([], [[[7, 8, 9]]])
    return ([(state, [0])],)


def test_label_probabilities_are_those_of_whole_labels(tiny, prompts, study):
    items, responses = study
    verdicts = judge(items, responses, tiny, prompts)
    by_key = {(v.item_id, v.system, v.kind, v.scope): v for v in verdicts if v.point in (None, 0)}
    item = items[3]
    prompt = prompts.judge[item.domain]["confidence"]
    response = next(r for r in responses if r.item_id == item.item_id)
    values = {"question": item.question, "transcript": "", "ground_truth": "3 lamps; 3", "response": response.text}
    ids = tiny.prompt_ids(prompts.judging(prompt, values))
    verdict = by_key[item.item_id, response.system, "confidence", "answer"]
    for label, value in verdict.label_logprobs.items():
        tokens = [*tiny.tokenizer(label, add_special_tokens=False)["input_ids"], 5]
        assert value == pytest.approx(sum(plain_logprobs(tiny, ids, tokens)), abs=1e-4)
    first, second = verdict.label_logprobs.values()
    p = math.exp(first) / (math.exp(first) + math.exp(second))
    assert verdict.score == pytest.approx(p, abs=1e-6)
    assert (verdict.choice == "Factual") == (verdict.score >= 0.5)


def test_batch_size_does_not_change_verdicts(tiny, prompts, study):
    items, responses = study
    reference = judge(items, responses, tiny, prompts, batch_tokens=1)
    for budget in (64, 400, 5000):
        for one, other in zip(reference, judge(items, responses, tiny, prompts, batch_tokens=budget), strict=True):
            assert other.sort_key() == one.sort_key()
            assert other.off_label == one.off_label
            for label, value in one.label_logprobs.items():
                assert other.label_logprobs[label] == pytest.approx(value, abs=1e-4)


def test_batch_size_does_not_change_answers(tiny, prompts, study):
    items, _ = study
    reference = respond(items, tiny, prompts, max_new_tokens=20, decode_tokens=1)
    for budget in (400, 1600, 20000):
        assert respond(items, tiny, prompts, max_new_tokens=20, decode_tokens=budget) == reference


@pytest.mark.parametrize("count", [2, 5])
def test_shards_together_give_the_same_bytes(tiny, prompts, study, count):
    items, responses = study
    whole = judge(items, responses, tiny, prompts, batch_tokens=300)
    parts = [
        v
        for k in range(1, count + 1)
        for v in judge(items, responses, tiny, prompts, batch_tokens=300, shard=(k, count))
    ]
    assert sorted(parts, key=lambda v: v.sort_key()) == whole
    answers = respond(items, tiny, prompts, max_new_tokens=8, decode_tokens=500)
    shared = [
        r
        for k in range(1, count + 1)
        for r in respond(items, tiny, prompts, max_new_tokens=8, decode_tokens=500, shard=(k, count))
    ]
    assert sorted(shared, key=lambda r: r.sort_key()) == sorted(answers, key=lambda r: r.sort_key())


def test_likelihood_depends_neither_on_shards_nor_but_for_rounding_on_batches(tiny, prompts, study):
    items, responses = study
    whole = likelihood(items, responses, tiny, prompts, batch_tokens=300)
    parts = [
        s for k in range(1, 4) for s in likelihood(items, responses, tiny, prompts, batch_tokens=300, shard=(k, 3))
    ]
    assert sorted(parts, key=lambda s: s.sort_key()) == whole
    for one, other in zip(likelihood(items, responses, tiny, prompts, batch_tokens=1), whole, strict=True):
        assert other.sort_key() == one.sort_key()
        assert other.value == pytest.approx(one.value, abs=1e-4)


def test_every_point_of_a_summary_is_judged(tiny, prompts, study):
    items, responses = study
    verdicts = judge(items, responses, tiny, prompts)
    facts = [v for v in verdicts if v.item_id == "d00" and v.scope == "fact" and v.kind == "confidence"]
    assert [(v.system, v.point) for v in facts] == [("alpha", 0), ("alpha", 1), ("beta", 0), ("beta", 1)]
    assert {v.target for v in facts} == {"transcript"}


def test_what_the_model_would_say_is_its_own_greedy_text(tiny, prompts, study):
    items, responses = study
    verdicts = judge(items, responses, tiny, prompts, off_label_tokens=6)
    item, response = items[0], next(r for r in responses if r.item_id == items[0].item_id)
    values = {"question": item.question, "transcript": "", "ground_truth": "0 lamps; 0", "response": response.text}
    ids = tiny.prompt_ids(prompts.judging(prompts.judge[item.domain]["likert"], values))
    verdict = next(v for v in verdicts if (v.item_id, v.system, v.kind) == (item.item_id, response.system, "likert"))
    assert verdict.off_label == tiny.decode(plain_greedy(tiny, ids, 6))


def test_strict_makes_off_label_verdicts_null(tiny, prompts, study):
    items, responses = study
    for loose, strict in zip(
        judge(items, responses, tiny, prompts), judge(items, responses, tiny, prompts, strict=True), strict=True
    ):
        assert (strict.score is None and strict.reason is not None) if loose.off_label is not None else strict == loose


def test_a_prompt_beyond_the_context_is_null_with_the_reason(tiny, prompts, qa_item):
    item = qa_item(1, question="Is it long? " * 900)
    answer = Response(item_id=item.item_id, system="alpha", text="Yes.")
    verdicts = judge([item], [answer], tiny, prompts)
    assert len(verdicts) == 2
    for verdict in verdicts:
        assert verdict.score is None and verdict.expected is None and "context 2048" in verdict.reason
    (response,) = respond([item], tiny, prompts)
    assert response.text is None and "context 2048" in response.reason


def test_a_missing_response_or_reference_gives_a_null_verdict(tiny, prompts, qa_item):
    unanswered = Response(item_id="q01", system="alpha", text=None, reason="the prompt has 9000 tokens")
    assert all("no response" in v.reason for v in judge([qa_item(1)], [unanswered], tiny, prompts))
    answered = Response(item_id="q01", system="alpha", text="Two.")
    verdicts = judge([qa_item(1, references={})], [answered], tiny, prompts)
    assert [v.reason for v in verdicts] == ["the item has no reference answer"] * 2


def test_variants_judge_points_pairwise_and_the_whole_against_the_reference(tiny, prompts, dialogue_item):
    item = dialogue_item(
        1, references={"points": ["Parcel 1 came.", "It waits."], "long": ["Parcel 1 came and waits."]}
    )
    answers = [
        Response(item_id="d01", system="alpha", text="* A parcel came.\n* It waits.\n* Ben is at sea."),
        Response(item_id="d01", system="beta", text="Nothing came."),
    ]
    both = judge([item], answers, tiny, prompts, variants=["fact_reference", "full_reference"], batch_tokens=300)
    usual = [v.sort_key() for v in judge([item], answers, tiny, prompts)]
    assert [v.sort_key() for v in both if v.target == "transcript"] == usual
    extra = [v for v in both if v.target == "reference"]
    places = sorted((v.system, v.point, v.reference_point) for v in extra if v.scope == "fact" and v.kind == "likert")
    assert places == [("alpha", p, r) for p in range(3) for r in range(2)] + [("beta", 0, r) for r in range(2)]
    assert sum(v.scope == "full" for v in extra) == 2 * 2
    prompt = prompts.variants[item.domain]["fact_reference"]["confidence"]
    values = {"ground_truth": "It waits.", "response": "Ben is at sea.", "question": "", "transcript": ""}
    ids = tiny.prompt_ids(prompts.judging(prompt, values))
    (verdict,) = [v for v in extra if (v.kind, v.point, v.reference_point) == ("confidence", 2, 1)]
    for label, tokens in tiny.label_ids(prompts.judging(prompt, values), prompt.labels).items():
        assert verdict.label_logprobs[label] == pytest.approx(sum(plain_logprobs(tiny, ids, tokens)), abs=1e-4)


def test_a_summary_without_reference_is_null_by_the_variants(tiny, prompts, dialogue_item):
    item = dialogue_item(1, references={})
    answer = Response(item_id="d01", system="alpha", text="* A parcel came.\n* It waits.")
    verdicts = judge([item], [answer], tiny, prompts, variants=["fact_reference", "full_reference"])
    extra = [v for v in verdicts if v.target == "reference"]
    assert len(extra) == 2 * (2 + 1) and {v.reason for v in extra} == {"the item has no reference answer"}
    with pytest.raises(InputError, match=r"no judging variant 'facts'.*fact_reference, full_reference"):
        judge([item], [answer], tiny, prompts, variants=["facts"])


def test_memory_exhaustion_halves_a_batch_and_changes_nothing(tiny, prompts, study, monkeypatch, capsys):
    items, responses = study
    expected = judge(items, responses, tiny, prompts)
    whole = type(tiny).score

    def small_memory(self, prefix, groups):
        if sum(len(group) for group in groups) > 12:
            raise torch.OutOfMemoryError("out of memory")
        return whole(self, prefix, groups)

    monkeypatch.setattr(type(tiny), "score", small_memory)
    for one, other in zip(expected, judge(items, responses, tiny, prompts), strict=True):
        for label, value in one.label_logprobs.items():
            assert other.label_logprobs[label] == pytest.approx(value, abs=1e-4)
    assert "going on in halves" in capsys.readouterr().err


def test_confidence_by_hand():
    # p(Factual) = 0.06, p(Not-Factual) = 0.02: three quarters of what both have; and the other way round.
    assert confidence(math.log(0.06), math.log(0.02)) == pytest.approx(0.75)
    assert confidence(math.log(0.02), math.log(0.06)) == pytest.approx(0.25)
    assert confidence(-2000.0, -10.0) == pytest.approx(0.0)


def test_expected_likert_by_hand():
    masses = {"0": 0.05, "1": 0.05, "2": 0.1, "3": 0.1, "4": 0.1, "5": 0.1}
    # (0*5 + 1*5 + 2*10 + 3*10 + 4*10 + 5*10) / 50
    assert expected_likert({k: math.log(v) for k, v in masses.items()}) == pytest.approx(2.9)


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), (" 3\n", 3), ("5 out of 5", 5), ("0.", 0), ("10", None), ("4.5", None), ("6", None), ("I rate 4", None)],
)
def test_greedy_likert_reads_a_leading_digit_and_nothing_else(text, value):
    assert greedy_likert(text) == value


def test_likelihood_is_the_mean_token_logprob_of_the_unshared_forward_pass(tiny, prompts, study):
    items, responses = study
    scores = likelihood(items, responses, tiny, prompts)
    item = next(i for i in items if i.item_id == "d01")
    response = next(r for r in responses if r.item_id == "d01" and r.system == "alpha")
    prompt = prompts.likelihood[item.domain]["source"]
    ids = tiny.prompt_ids(prompts.replying(prompt, {"transcript": item.transcript()}))
    reply, offsets = tiny.plain_ids(response.text)
    expected = plain_logprobs(tiny, ids, reply)
    mine = {s.point: s.value for s in scores if (s.item_id, s.system) == ("d01", "alpha") and "source" in s.metric}
    assert mine[None] == pytest.approx(sum(expected) / len(expected), abs=1e-4)
    # The first point's characters are 2..18 of "* A parcel came.\n* …".
    inside = [v for v, (start, stop) in zip(expected, offsets, strict=True) if stop > 2 and start < 16]
    assert mine[0] == pytest.approx(sum(inside) / len(inside), abs=1e-4)
    assert set(mine) == {None, 0, 1}
