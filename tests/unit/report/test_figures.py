"""The figures: same bytes each time, every value in its place, nothing missing drawn as a number."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from typer.testing import CliRunner

from faithfuse.analysis.columns import CORRELATION_COLUMNS, EVALUATION_COLUMNS, IMPORTANCE_COLUMNS
from faithfuse.cli import app
from faithfuse.errors import InputError
from faithfuse.report import figures, inputs
from faithfuse.report.svg import SVG

from .conftest import DOMAINS, REFERENCE, Inputs, figure_arguments

STATES = ("1", "0", "U")


def texts(document: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(document).iter(f"{{{SVG}}}text")]


def correlation(made: Inputs, paper: bool = True) -> str:
    sheets = inputs.read_many(made.correlations, CORRELATION_COLUMNS)
    return figures.correlation_figure(sheets, inputs.paper_values(REFERENCE) if paper else None)


def importances(made: Inputs) -> str:
    sheets = inputs.read_many([folder / "importances.csv" for folder in made.fusion], IMPORTANCE_COLUMNS)
    return figures.importance_figure(sheets, inputs.paper_values(REFERENCE))


def fusion(made: Inputs) -> str:
    sheets = inputs.read_many([folder / "evaluation.csv" for folder in made.fusion], EVALUATION_COLUMNS)
    return figures.fusion_figure(sheets, inputs.paper_values(REFERENCE))


def states(made: Inputs) -> str:
    return figures.state_figure(inputs.read_sheet(made.audit / "states.csv", inputs.STATE_COLUMNS))


@pytest.mark.parametrize("draw", [correlation, importances, fusion, states])
def test_the_same_rows_give_the_same_bytes_under_any_user_settings(draw, report_inputs: Inputs) -> None:
    first = draw(report_inputs)
    with matplotlib.rc_context({"font.size": 40, "svg.hashsalt": "other", "svg.fonttype": "path"}):
        assert draw(report_inputs) == first


def test_the_order_of_the_files_does_not_change_the_bytes(report_inputs: Inputs) -> None:
    turned = report_inputs._replace(correlations=report_inputs.correlations[::-1], fusion=report_inputs.fusion[::-1])
    assert correlation(turned) == correlation(report_inputs)
    assert fusion(turned) == fusion(report_inputs)


@pytest.mark.parametrize("draw", [correlation, importances, fusion, states])
def test_ids_are_unique_and_every_reference_has_its_target(draw, report_inputs: Inputs) -> None:
    document = draw(report_inputs)
    found = re.findall(r'\bid="([^"]+)"', document)
    assert len(found) == len(set(found))
    assert set(re.findall(r'href="#([^"]+)"', document)) | set(re.findall(r"url\(#([^)]+)\)", document)) <= set(found)


@pytest.mark.parametrize("draw", [correlation, importances, fusion, states])
def test_figures_carry_no_date_and_no_rule_that_reaches_a_page(draw, report_inputs: Inputs) -> None:
    document = draw(report_inputs)
    assert "<style" not in document
    assert "metadata" not in document
    assert not re.search(r"20\d\d-\d\d-\d\d", document)


def test_each_domain_has_a_panel_of_its_own_id(report_inputs: Inputs) -> None:
    root = ElementTree.fromstring(correlation(report_inputs))
    panels = [panel.get("id") for panel in root.findall(f"{{{SVG}}}svg")]
    assert panels == ["correlation-legend", *(f"correlation-{domain}" for domain in DOMAINS)]


def test_metrics_stand_best_first_and_those_without_a_value_last_with_the_reason(report_inputs: Inputs) -> None:
    sheet = inputs.read_sheet(report_inputs.correlations[1], CORRELATION_COLUMNS)
    rows = [row for row in sheet.rows if (row["coefficient"], row["human"]) == ("pearson", "likert")]
    ranked = sorted((row for row in rows if row["value"]), key=lambda row: -float(row["value"]))
    expected = [row["metric"] + (" †" if row["metric"] == "chrF" else "") for row in ranked] + ["Exact match"]
    shown = texts(figures.correlation_figure([sheet]))
    assert [text for text in shown if text in expected] == expected
    assert any("N/A: no match in 60 responses" in text for text in shown)


def test_a_long_panel_leaves_out_the_weakest_extensions_alone_and_counts_them(tmp_path: Path) -> None:
    lines = [",".join(CORRELATION_COLUMNS)]
    for number in range(50):
        lines.append(f"summarisation,paper {number},graph,false,likert,pearson,{number / 1000},0,0.1,40,0,,,,")
        lines.append(f"summarisation,ours {number},graph,true,likert,pearson,{number / 100},0,0.9,40,0,,,,")
    path = tmp_path / "c.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = texts(figures.correlation_figure([inputs.read_sheet(path, CORRELATION_COLUMNS)]))
    assert {f"paper {number}" for number in range(50)} <= set(shown)
    assert [text for text in shown if text.startswith("ours")] == [f"ours {number} †" for number in range(49, 39, -1)]
    assert "40 rated responses; 40 more † in the table" in shown


def test_dots_stand_where_their_values_are(tmp_path: Path) -> None:
    """Three known correlations: the dot's x is linear in the value, so equal steps give equal distances."""
    lines = [",".join(CORRELATION_COLUMNS)]
    for metric, value in (("ROUGE-1", 0.6), ("ROUGE-2", 0.4), ("ROUGE-L", 0.2)):
        lines.append(f"short_form_qa,{metric},n-gram,false,likert,pearson,{value},{value - 0.1},{value + 0.1},60,0,,,,")
    path = tmp_path / "c.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    root = ElementTree.fromstring(figures.correlation_figure([inputs.read_sheet(path, CORRELATION_COLUMNS)]))
    panel = next(item for item in root.findall(f"{{{SVG}}}svg") if item.get("id") == "correlation-short_form_qa")
    marks = [use for use in panel.iter(f"{{{SVG}}}use") if "#d55e00" in (use.get("style") or "")]
    x = [float(mark.get("x", "nan")) for mark in marks]
    assert len(x) == 3
    assert x[0] - x[1] == pytest.approx(x[1] - x[2], abs=1e-3)
    assert x[0] > x[1] > x[2]


def test_published_values_are_drawn_only_when_given(report_inputs: Inputs) -> None:
    assert "published value" in texts(correlation(report_inputs))
    assert "published value" not in texts(correlation(report_inputs, paper=False))


def test_table_iii_values_are_found_under_the_likert_column() -> None:
    published = inputs.paper_values(REFERENCE)
    assert published[("summarisation", "LLM Conf. Fact mean", "likert")] == 0.578
    assert published[("short_form_qa", "LLM Likert", "bool")] == 0.783
    assert ("long_form_qa", "Exact match", "likert") not in published


def test_the_fusion_figure_shows_only_what_was_measured_on_blind_rows(report_inputs: Inputs) -> None:
    shown = texts(fusion(report_inputs))
    assert shown.count("Fused metric") == len(DOMAINS)
    assert "Ridge regression" in shown
    assert not any("paper's way" in text or "less best single" in text for text in shown)


def test_the_state_map_has_81_cells_and_one_omission(report_inputs: Inputs) -> None:
    document = states(report_inputs)
    cells = re.findall(r'id="audit_states-map-state-([10U]{4})"', document)
    assert len(set(cells)) == 81
    shown = texts(document)
    assert "1: omission (1)" in shown
    assert "0: no omission (15)" in shown
    assert "U: unresolved (65)" in shown
    assert "81 of 81 agree with the oracle" in shown


def test_a_state_that_differs_from_the_oracle_shows_both(report_inputs: Inputs) -> None:
    path = report_inputs.audit / "states.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("1,1,1,1,0,0\n", "1,1,1,1,1,0\n"), encoding="utf-8")
    shown = texts(states(report_inputs))
    assert "1≠0" in shown
    assert "80 of 81 agree with the oracle" in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("1,1,1,0,1,1\n", ""), "80 of the 81 states"),
        (lambda text: text + "1,1,1,0,1,1\n", "is repeated"),
        (lambda text: text.replace("1,1,1,0,1,1", "1,1,1,0,yes,1"), "something else than 1, 0 and U"),
    ],
)
def test_a_state_file_that_is_not_the_state_space_is_refused(change, message: str, report_inputs: Inputs) -> None:
    path = report_inputs.audit / "states.csv"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        states(report_inputs)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("coefficient", "statistic", "lacks the column coefficient"),
        (",60,0,", ",60,0,,", "cells where the header has"),
        ("pearson", "tau", "no row with the coefficient pearson"),
    ],
)
def test_a_broken_correlation_file_is_named_with_what_is_wrong(
    old: str, new: str, message: str, report_inputs: Inputs
) -> None:
    path = report_inputs.correlations[0]
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        correlation(report_inputs)
    assert caught.value.path == path


def test_a_value_that_is_no_number_is_named_by_line(report_inputs: Inputs) -> None:
    path = report_inputs.fusion[2] / "evaluation.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("0.57", "high"), encoding="utf-8")
    with pytest.raises(InputError, match="'high', which is no finite number") as caught:
        fusion(report_inputs)
    assert (caught.value.path, caught.value.line) == (path, 5)


def test_two_files_of_one_domain_are_refused(report_inputs: Inputs) -> None:
    twice = report_inputs._replace(correlations=[report_inputs.correlations[0]] * 2)
    with pytest.raises(InputError, match="holds the domain short_form_qa"):
        correlation(twice)


def test_the_command_writes_four_figures_and_keeps_them_when_an_input_breaks(
    report_inputs: Inputs, tmp_path: Path
) -> None:
    out = tmp_path / "figures"
    assert CliRunner().invoke(app, figure_arguments(report_inputs, out)).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(before) == ["audit_states.svg", "correlation.svg", "fusion.svg", "importances.svg"]
    (report_inputs.audit / "states.csv").unlink()
    result = CliRunner().invoke(app, figure_arguments(report_inputs, out))
    assert isinstance(result.exception, InputError)
    assert "states.csv: cannot be read" in str(result.exception)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
