"""Tables I–V: the paper's rows, our values, and the difference."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from faithfuse.analysis.columns import CORRELATION_COLUMNS, EVALUATION_COLUMNS, IMPORTANCE_COLUMNS
from faithfuse.analysis.correlation import correlation_rows
from faithfuse.analysis.csvfile import cell, write_csv
from faithfuse.analysis.tables import write_tables
from faithfuse.errors import InputError

REFERENCE = Path(__file__).parents[3] / "config" / "reference" / "paper_tables.csv"
PAPER_ROWS = {1: 20, 2: 12, 3: 20}


def _read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _correlation(domain, metric, human, value, **more):
    row = dict.fromkeys(CORRELATION_COLUMNS, None) | {
        "domain": domain,
        "metric": metric,
        "metric_class": "llm",
        "extension": False,
        "human": human,
        "coefficient": "pearson",
        "value": value,
        "pairs": 50,
        "unscored": 1,
    }
    return row | more


@pytest.fixture
def tables(tmp_path):
    def write(correlations=(), fusions=(), note="made for a test"):
        files, folders = [], []
        for index, rows in enumerate(correlations):
            files.append(tmp_path / f"correlations_{index}.csv")
            write_csv(files[-1], CORRELATION_COLUMNS, rows)
        for index, (importances, evaluation) in enumerate(fusions):
            folders.append(tmp_path / f"fusion_{index}")
            write_csv(folders[-1] / "importances.csv", IMPORTANCE_COLUMNS, importances)
            write_csv(folders[-1] / "evaluation.csv", EVALUATION_COLUMNS, evaluation)
        paths = write_tables(files, folders, REFERENCE, tmp_path / "out", note)
        return {int(path.stem[-1]): _read(path) for path in paths}

    return write


def test_every_row_of_the_paper_exists_even_where_nothing_was_computed(tables):
    written = tables()
    assert {number: len(written[number]) for number in PAPER_ROWS} == PAPER_ROWS
    assert [row["metric_class"] for row in written[4]] == ["llm", "n-gram", "embedding", "graph", "matching"]
    first = written[1][0]
    assert (first["metric"], first["short_form_qa_likert"], first["short_form_qa_likert_paper"]) == (
        "LLM Likert",
        "",
        "0.815",
    )
    assert first["short_form_qa_likert_reason"] == "not computed"
    assert first["short_form_qa_likert_difference"] == ""
    assert all(row["note"].startswith("made for a test") for rows in written.values() for row in rows)
    assert "not computed" in written[4][0]["note"]
    assert written[5][0]["summarisation_note"] == "not computed"


def test_the_reference_values_are_the_papers(tables):
    written = tables()
    summary = {row["metric"]: row for row in written[3]}
    assert summary["LLM Conf. Fact mean"]["summarisation_likert_paper"] == "0.578"
    assert summary["LLM Conf. Fact mean"]["summarisation_bool_paper"] == "0.38"
    assert written[4][3]["long_form_qa_paper"] == "0.37"
    evaluation = {row["metric"]: row for row in written[5]}
    assert evaluation["Fused metric"]["long_form_qa_paper"] == "0.795"
    assert evaluation["Best single metric"]["long_form_qa_paper"] == "0.659"
    assert evaluation["Difference"]["long_form_qa_paper"] == "0.136"  # the paper names this gain in section VI-B


def test_rows_are_sorted_by_our_value_with_extensions_in_their_own_section(tables):
    domain = "conversational_qa"
    rows = [
        _correlation(domain, "Exact match", "likert", 0.9),
        _correlation(domain, "SMATCH", "likert", 0.95),
        _correlation(domain, "chrF", "likert", 0.99, extension=True),
        _correlation(domain, "BLEU", "likert", 0.995, extension=True),
        _correlation(domain, "LLM Conf.", "likert", None, reason="constant (1) in 50 responses"),
        _correlation(domain, "Human (leave one rater out)", "likert", 1.0, extension=True, metric_class="human"),
    ]
    table = tables([rows])[2]
    names = [row["metric"] for row in table]
    assert names[:2] == ["SMATCH", "Exact match"]
    assert names[2] == "Lexical match"  # no value of ours: the paper's order
    assert names[12:] == ["BLEU", "chrF", "Human (leave one rater out)"]
    assert [row["extension"] for row in table[12:]] == ["true"] * 3
    confidence = next(row for row in table if row["metric"] == "LLM Conf.")
    assert confidence["conversational_qa_likert"] == ""
    assert confidence["conversational_qa_likert_reason"] == "constant (1) in 50 responses"


def test_the_difference_to_the_paper_is_ours_less_theirs(tables):
    row = _correlation("short_form_qa", "LLM Likert", "likert", 0.5, low=0.4, high=0.6)
    first = tables([[row]])[1][0]
    assert float(first["short_form_qa_likert_difference"]) == pytest.approx(0.5 - 0.815)
    assert (first["short_form_qa_likert_low"], first["short_form_qa_likert_pairs"]) == ("0.4", "50")


def test_holm_runs_over_the_whole_table_and_not_over_the_human_ceiling(tables):
    rows = [
        _correlation("conversational_qa", "SMATCH", "likert", 0.5, p_value=0.01),
        _correlation("conversational_qa", "SMATCH", "bool", 0.5, p_value=0.02),
        _correlation("conversational_qa", "chrF", "bool", 0.5, p_value=0.03),
        _correlation(
            "conversational_qa", "Human (leave one rater out)", "bool", 0.5, p_value=1e-9, metric_class="human"
        ),
    ]
    table = {row["metric"]: row for row in tables([rows])[2]}
    assert float(table["SMATCH"]["conversational_qa_likert_p_holm"]) == pytest.approx(0.03)
    assert float(table["SMATCH"]["conversational_qa_bool_p_holm"]) == pytest.approx(0.04)
    assert table["Human (leave one rater out)"]["conversational_qa_bool_p_holm"] == ""


def test_tables_four_and_five_carry_what_fusion_measured(tables):
    domain = {"domain": "summarisation"}
    importances = [
        domain
        | {"metric_class": "llm", "share": 0.7, "share_low": 0.6, "share_high": 0.8, "seeds": 10, "blind_drop": 0.1},
        domain | {"metric_class": "other", "share": 0.3, "seeds": 10},
    ]
    evaluation = [
        domain | {"system": "fused", "metric": "Fused metric", "rows": 30, "value": 0.6, "low": 0.4, "high": 0.8},
        domain | {"system": "best_single", "metric": "LLM Conf.", "rows": 30, "value": 0.5, "note": "chosen"},
        domain | {"system": "difference", "rows": 30, "value": 0.1, "low": -0.1, "high": 0.3, "note": "paired"},
    ]
    written = tables([], [(importances, evaluation)])
    shares = {row["metric_class"]: row for row in written[4]}
    assert shares["llm"]["summarisation_share"] == "0.7"
    assert shares["llm"]["summarisation_paper"] == "0.263"
    assert shares["llm"]["summarisation_blind_drop"] == "0.1"
    assert shares["other"]["summarisation_share"] == "0.3"
    assert "summarisation: no usable metric of this class" in shares["matching"]["note"]
    assert {row["seeds"] for row in written[4]} == {"10"}
    lines = {row["metric"]: row for row in written[5]}
    assert list(lines)[:3] == ["Best single metric", "Fused metric", "Difference"]
    assert lines["Fused metric"]["summarisation_value"] == "0.6"
    assert lines["Fused metric"]["summarisation_rows"] == "30"
    assert lines["Best single metric"]["summarisation_note"] == "LLM Conf.: chosen"
    assert lines["Difference"]["summarisation_low"] == "-0.1"


def test_two_files_for_one_domain_are_refused(tables):
    row = _correlation("summarisation", "ROUGE-1", "likert", 0.5)
    with pytest.raises(InputError, match="has the domain summarisation, and so has"):
        tables([[row], [row]])


def test_an_unknown_domain_is_refused_with_its_line(tables):
    with pytest.raises(InputError, match=r"correlations_0\.csv:2: has the domain 'unstated'"):
        tables([[_correlation("unstated", "ROUGE-1", "likert", 0.5)]])


def test_real_correlations_flow_into_the_table(planted, tables):
    rows = correlation_rows(planted(rows=40).joined(), "short_form_qa")
    table = {row["metric"]: row for row in tables([rows])[1]}
    wanted = {(row["metric"], row["coefficient"], row["human"]): row for row in rows}
    for metric in ("LLM Conf.", "SMATCH mean", "chrF"):
        for column, coefficient in (("", "pearson"), ("_spearman", "spearman"), ("_kendall", "kendall")):
            value = float(table[metric]["short_form_qa_likert" + column])
            assert value == pytest.approx(wanted[metric, coefficient, "likert"]["value"], rel=1e-9)
        auroc = float(table[metric]["short_form_qa_bool_auroc"])
        assert auroc == pytest.approx(wanted[metric, "auroc", "bool"]["value"], rel=1e-9)


def test_cells_are_short_exact_and_never_a_made_up_zero():
    assert [cell(v) for v in (None, float("nan"), True, 3, 0.1 + 0.2, -0.0, 1e-20, "x")] == [
        "",
        "",
        "true",
        "3",
        "0.3",
        "0.0",
        "1e-20",
        "x",
    ]


def test_a_further_set_gets_columns_of_its_own_and_leaves_the_others_alone(tables):
    main = [
        _correlation("short_form_qa", "ROUGE-1", "likert", 0.4, metric_class="n-gram", p_value=0.01),
        _correlation("short_form_qa", "LLM Conf.", "likert", 0.3, p_value=0.02),
    ]
    further = [
        _correlation("short_form_qa.evouna_tq", "ROUGE-1", "likert", 0.6, metric_class="n-gram", p_value=0.04),
        _correlation("short_form_qa.evouna_tq", "chrF", "likert", 0.7, metric_class="n-gram", extension=True),
    ]
    alone = {row["metric"]: row for row in tables([main])[1]}
    both = {row["metric"]: row for row in tables([main, further])[1]}
    for metric, row in alone.items():
        assert row == {column: both[metric][column] for column in row}, metric
    assert both["ROUGE-1"]["short_form_qa.evouna_tq_likert"] == "0.6"
    assert both["ROUGE-1"]["short_form_qa.evouna_tq_likert_p_holm"] == "0.04"
    assert both["ROUGE-1"]["short_form_qa_likert_p_holm"] == "0.02"
    assert both["chrF"]["short_form_qa_likert_reason"] == "not computed"
    reason = "no llm metric was computed on this set"
    assert both["LLM Conf."]["short_form_qa.evouna_tq_likert_reason"] == reason
    assert not any(".evouna_tq" in column for column in tables([main, further])[2][0])


def test_a_metric_that_most_responses_lack_does_not_head_the_table_and_says_so(tables):
    rows = [
        _correlation("conversational_qa", "LLM Likert", "likert", 1.0, pairs=5, unscored=495),
        _correlation("conversational_qa", "ROUGE-1", "likert", 0.3, pairs=500, unscored=0),
        _correlation("conversational_qa", "SMATCH", "likert", None, pairs=500, unscored=0, reason="constant"),
    ]
    table = tables([rows])[2]
    assert [row["metric"] for row in table[:2]] == ["ROUGE-1", "LLM Likert"]
    assert table[1]["conversational_qa_likert_reason"] == "scored on 5 of 500 rated responses"


def test_unproven_graph_scores_are_counted_beside_the_graph_rows(tmp_path):
    correlations = tmp_path / "correlations.csv"
    rows = [_correlation("conversational_qa", "SMATCH", "likert", 0.3, metric_class="graph")]
    write_csv(correlations, CORRELATION_COLUMNS, rows)
    meta = tmp_path / "METRICS.csv.meta.json"
    counted = {
        "SMATCH": {"class": "graph", "not_proven": 2},
        "Entity F1": {"class": "graph"},
        "BLEU": {"class": "n-gram"},
    }
    meta.write_text(json.dumps({"domain": "conversational_qa", "metrics": counted}))
    written = {
        path.name: _read(path) for path in write_tables([correlations], [], REFERENCE, tmp_path / "out", "", [meta])
    }
    found = {row["metric"]: row["conversational_qa_not_proven"] for row in written["table_2.csv"]}
    assert (found["SMATCH"], found["Entity F1"], found["Exact match"]) == ("2", "0", "")
    assert "conversational_qa_not_proven" not in written["table_1.csv"][0]
    meta.write_text("[]")
    with pytest.raises(InputError, match="no meta file"):
        write_tables([correlations], [], REFERENCE, tmp_path / "out", "", [meta])


def test_verdicts_off_label_are_counted_beside_the_judges_rows(tmp_path):
    correlations = tmp_path / "correlations.csv"
    rows = [_correlation("conversational_qa", "LLM Conf.", "likert", 0.3, metric_class="LLM")]
    write_csv(correlations, CORRELATION_COLUMNS, rows)
    meta = tmp_path / "METRICS.csv.meta.json"
    judge = {"verdicts": 9, "off_label": 7, "median_label_mass": 0.25}
    counted = {"LLM Conf.": {"class": "LLM", "judge": judge}, "BLEU": {"class": "n-gram"}}
    meta.write_text(json.dumps({"domain": "conversational_qa", "metrics": counted}))
    write_tables([correlations], [], REFERENCE, tmp_path / "out", "", [meta])
    table = {row["metric"]: row for row in _read(tmp_path / "out" / "table_2.csv")}
    columns = [f"conversational_qa_{name}" for name in ("verdicts", "off_label", "label_mass", "not_proven")]
    assert [table["LLM Conf."][name] for name in columns] == ["9", "7", "0.25", ""]
    assert [table["Exact match"][name] for name in columns] == ["", "", "", ""]
