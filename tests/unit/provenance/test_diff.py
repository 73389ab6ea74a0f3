"""A comparison says which values differ, which input explains each, and what is arithmetic."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.provenance.changes import input_changes, open_run
from faithfuse.provenance.diff import ARITHMETIC, PRECISION, UNEXPLAINED, Value, _Explanation, compare, render

OTHER = 0.42  # what the correlation is in the changed run


def found(make_run, **changes):
    a, b = make_run("a"), make_run("b", **changes)
    return compare(a.results, b.results)


def why(comparison, column="short_form_qa_likert", table="tables/table_1.csv"):
    (value,) = [value for value in comparison.values if value.column == column and value.table == table]
    return value.why


def text(comparison):
    return "\n".join(render(comparison))


def test_equal_runs_differ_in_nothing(make_run):
    comparison = found(make_run)
    assert comparison.changes == [] and comparison.values == [] and not comparison.differs
    assert "The same run" in text(comparison)


def test_a_rating_is_named_with_what_it_was(make_run):
    comparison = found(make_run, likert=[1, 3, 5, 2], correlation=OTHER)
    expected = "rating short_form_qa: q3 s r: likert 4.0 → 2.0"
    assert why(comparison) == (expected,)
    assert comparison.differs
    assert f"0.9 → 0.42  [{expected}]" in text(comparison)


def test_many_ratings_are_counted(make_run, monkeypatch):
    monkeypatch.setattr("faithfuse.provenance.changes.LISTED", 2)
    comparison = found(make_run, likert=[2, 2, 2, 2], correlation=OTHER)
    assert why(comparison) == ("rating short_form_qa: 4 differ: 4 changed, 0 gone, 0 new",)


def test_another_model_revision_explains_a_metric_that_its_weights_made(make_run):
    comparison = found(make_run, revision="b" * 40, weights=b"better!", metric=[0.1, 0.4, 0.9, 0.8], correlation=OTHER)
    assert why(comparison) == ("model tiny",)
    assert f'revision "{"a" * 40}" → "{"b" * 40}"; weights ' in text(comparison)


def test_a_response_explains_a_metric_with_the_same_signature(make_run):
    comparison = found(make_run, response="perhaps", metric=[0.2, 0.5, 0.9, 0.7], correlation=OTHER)
    assert why(comparison) == ('response short_form_qa: q0 s: text "yes" → "perhaps"',)


def test_a_package_of_the_statistics_explains_a_value_whose_data_are_the_same(make_run):
    comparison = found(make_run, packages={"numpy": "3.0.0", "requests": "9"}, correlation=OTHER)
    assert why(comparison) == ("package numpy",)


def test_a_module_explains_a_value_whose_data_are_the_same(make_run):
    comparison = found(make_run, code="VALUE = 2\n", correlation=OTHER)
    assert why(comparison) == ("code workflow/faithfuse/analysis/correlation.py",)


def test_a_setting_of_the_stage_explains_its_values_and_no_others(make_run):
    setting = {"correlation": {"interval": "bootstrap", "resamples": 200, "seed": 0}}
    comparison = found(make_run, configuration=setting, correlation=OTHER, share=0.26)
    assert why(comparison) == ("configuration correlation.interval",)
    assert why(comparison, "short_form_qa_share", "tables/table_4.csv") == (UNEXPLAINED,)


def test_a_published_value_explains_its_column_and_the_difference(make_run):
    comparison = found(make_run, paper=0.5)
    assert {value.column: value.why for value in comparison.values} == {
        "short_form_qa_likert_paper": ("input config/reference/paper_tables.csv",),
        "short_form_qa_likert_difference": ("input config/reference/paper_tables.csv",),
    }


def test_the_note_is_explained_by_the_setting_that_holds_it(make_run):
    assert why(found(make_run, configuration={"note": "another"}), "note") == ("configuration note",)


def test_the_last_digits_on_another_machine_are_arithmetic_and_no_difference(make_run):
    host = {"arithmetic": [{"cpu": "AVX512", "threads": 4}]}
    comparison = found(make_run, metric=[0.1 + 1e-9, 0.5, 0.9, 0.7], correlation=0.9 + 1e-8, host=host)
    assert why(comparison) == (ARITHMETIC,)
    assert not comparison.differs
    assert "arithmetic: inputs are the same, largest difference 1e-08" in text(comparison)
    assert "host facts that differ" in text(comparison) and "AVX512" in text(comparison)


def test_more_than_arithmetic_may_differ_is_unexplained_where_no_input_differs(make_run):
    comparison = found(make_run, metric=[0.1, 0.5, 0.9, 0.8], correlation=0.9 + 2 * PRECISION)
    assert why(comparison) == (UNEXPLAINED,)
    assert comparison.differs


def test_an_input_that_cannot_reach_a_value_does_not_explain_it(make_run):
    comparison = found(make_run, paper=0.3, count=80, revision="b" * 40)
    assert why(comparison, "ours", "audit/counts.csv") == (UNEXPLAINED,)


def test_a_rating_explains_the_corrected_p_values_of_the_other_study_in_its_table(make_run):
    a, b = make_run("a"), make_run("b", likert=[1, 3, 5, 2])
    runs = [open_run(run.results) for run in (a, b)]
    explain = _Explanation(*runs, input_changes(*runs))
    explain.studies = ["short_form_qa", "long_form_qa"]
    rating = ("rating short_form_qa: q3 s r: likert 4.0 → 2.0",)
    for column, expected in (("long_form_qa_likert_p_holm", rating), ("long_form_qa_likert", (UNEXPLAINED,))):
        assert explain.value(Value("tables/table_1.csv", "ROUGE-1", column, "0.5", "0.6", ())) == expected


def test_a_row_of_one_run_alone_is_a_difference(make_run):
    a, b = make_run("a"), make_run("b")
    path = b.results / "tables/table_1.csv"
    path.write_text(path.read_text().replace("LLM Conf.", "ROUGE-1"))
    values = compare(a.results, b.results).values
    assert {(value.row, value.before is None) for value in values} == {("LLM Conf.", False), ("ROUGE-1", True)}


def test_the_command_exits_1_where_values_differ_and_writes_them_all(make_run, tmp_path):
    a, b = make_run("a"), make_run("b", likert=[1, 3, 5, 2], correlation=OTHER)
    runner, out = CliRunner(), tmp_path / "values.csv"
    assert runner.invoke(app, ["manifest", "diff", str(a.results), str(a.results)]).exit_code == 0
    done = runner.invoke(app, ["manifest", "diff", str(a.results), str(b.results), "--out", str(out)])
    assert done.exit_code == 1
    assert f"run {a.id}" in done.output and f"run {b.id}" in done.output
    header, *rows = out.read_text(encoding="utf-8").splitlines()
    assert header == "table,row,column,before,after,why"
    assert len(rows) == 2  # the correlation, and its difference from the published value


@pytest.mark.parametrize("shown", [0, 1])
def test_as_many_values_are_shown_as_asked_for(make_run, shown):
    comparison = found(make_run, likert=[1, 3, 5, 2], correlation=OTHER)
    lines = list(render(comparison, show=shown))
    assert sum(line.startswith("  tables/") for line in lines) == shown
    assert f"  … and {2 - shown} more (--show, --out)" in lines
