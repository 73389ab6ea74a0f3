"""The notebook on disagreements: small constructed results with disagreements that are known beforehand."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import nbformat
import pytest

from faithfuse.errors import FaithfuseError
from faithfuse.records import Item, Rating, References, Response, Turn, write_records
from faithfuse.report.notebook import execute

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "disagreement.ipynb"
CONSTANT = "constant metric: every value is 0"
EMPTY = ("", "", "")
NOTE = "Ratings were constructed by the authors; they are no evidence."
CORRELATIONS = (
    "domain,metric,metric_class,extension,human,coefficient,value,low,high,pairs,unscored,reason,p_value,p_holm"
)


def write_csv(path: Path, header: str, rows: list[list]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([header.split(","), *rows])


def build(root: Path, note: str) -> Path:
    """Results of two domains.

    Short-form QA: ten responses, of which people hold q0–q4 wrong (1) and q5–q9 right (5). ROUGE-1 orders them from
    q0 to q9, but swaps the first with the last. Summarisation: six summaries of two points and two raters; ROUGE-1
    mean follows people exactly, and one value of it is missing.
    """
    short = [
        Item(
            item_id=f"q{n}",
            domain="short_form_qa",
            source_set="constructed",
            question=f"Question number {n}?",
            references=References(short=[f"right {n}", f"alias {n}"]),
            group=f"g{n}",
        )
        for n in range(10)
    ]
    rouge = [1.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.1]
    folder = root / "items" / "short_form_qa"
    write_records(folder / "items.jsonl", short)
    write_records(
        folder / "responses.jsonl",
        [Response(item_id=f"q{n}", system="s", text=f"answer {n} & more") for n in range(10)],
    )
    write_records(
        folder / "ratings.jsonl",
        [Rating(item_id=f"q{n}", system="s", annotator="a", likert=1 if n < 5 else 5) for n in range(10)],
    )
    write_csv(
        root / "metrics" / "short_form_qa.csv",
        "item_id,system,group,ROUGE-1,Exact match",
        [[f"q{n}", "s", f"g{n}", rouge[n], 0] for n in range(10)] + [["q0", "unrated", "g0", 0.5, 0]],
    )
    write_csv(
        root / "correlations" / "short_form_qa.csv",
        CORRELATIONS,
        [
            ["short_form_qa", "ROUGE-1", "n-gram", "false", "likert", "pearson", 0.24, -0.4, 0.7, 10, 0, "", 0.4, 0.8],
            ["short_form_qa", "ROUGE-1", "n-gram", "false", "bool", "pearson", 0.99, 0.9, 1, 10, 0, "", 0.4, 0.8],
            ["short_form_qa", "Exact match", "matching", "false", "likert", "pearson", *EMPTY, 10, 0, CONSTANT, "", ""],
        ],
    )
    write_csv(
        root / "fusion" / "short_form_qa" / "blind.csv",
        "item_id,system,group,human,fused,best_single",
        [[f"q{n}", "s", f"g{n}", 1 if n < 5 else 5, 1 + n / 3, rouge[n]] for n in (0, 3, 6, 9)],
    )

    folder = root / "items" / "summarisation"
    write_records(
        folder / "items.jsonl",
        [
            Item(
                item_id=f"d{n}",
                domain="summarisation",
                source_set="constructed",
                context=[Turn(speaker="Ann", text="look <file_photo>"), Turn(speaker="Bo", text=f"turn {n}")],
                references=References(long=[f"gold {n}"], points=[f"gold {n}"]),
                group=f"d{n}",
            )
            for n in range(6)
        ],
    )
    write_records(
        folder / "responses.jsonl",
        [Response(item_id=f"d{n}", system="s", text="* one\n* two", points=["one", "two"]) for n in range(6)],
    )
    # Rater b abstains from the second point; what people say rises with n.
    scale = [1, 1.5, 2, 3, 4, 5]
    write_records(
        folder / "ratings.jsonl",
        [
            Rating(item_id=f"d{n}", system="s", annotator=rater, point=point, likert=likert)
            for n in range(6)
            for rater, point, likert in (("a", 0, scale[n]), ("a", 1, scale[n]), ("b", 0, scale[n]), ("b", 1, None))
        ],
    )
    write_csv(
        root / "metrics" / "summarisation.csv",
        "item_id,system,group,ROUGE-1 mean",
        [[f"d{n}", "s", f"d{n}", "" if n == 2 else n / 10] for n in range(6)],
    )
    write_csv(
        root / "correlations" / "summarisation.csv",
        CORRELATIONS,
        [["summarisation", "ROUGE-1 mean", "n-gram", "false", "likert", "pearson", 0.97, 0.8, 1, 5, 1, "", 0.01, 0.01]],
    )
    write_csv(
        root / "fusion" / "summarisation" / "blind.csv",
        "item_id,system,group,human,fused,best_single",
        [["d1", "s", "d1", 1.5, 2, 0.1], ["d2", "s", "d2", 2, 2.2, ""], ["d5", "s", "d5", 5, 4, 0.5]],
    )
    (root / "run.json").write_text(
        json.dumps({"configuration": {"note": note, "domains": ["short_form_qa", "summarisation"]}}), encoding="utf-8"
    )
    return root


def run(root: Path, note: str = NOTE) -> bytes:
    out = root / "notebooks" / "out.ipynb"
    execute(NOTEBOOK, out, build(root, note))
    return out.read_bytes()


def shown(executed: bytes) -> dict[str, str]:
    """What each cell shows, by cell id: HTML tags out, one table row or paragraph a line, cells apart by ` | `."""
    document = json.loads(executed)
    result = {}
    for cell in document["cells"]:
        text = ""
        for output in cell.get("outputs", []):
            data = output["data"]
            text += "".join(data.get("text/html", data.get("image/svg+xml", ""))) + "\n"
        text = re.sub(r"\s*</t[dh]>\s*", " | ", text)
        text = re.sub(r"</(tr|p|h3|h4)>", "\n", text)
        result[cell["id"]] = "\n".join(
            line.strip() for line in re.sub(r"<[^>]+>", "", text).split("\n") if line.strip()
        )
    return result


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> bytes:
    return run(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def cells(executed) -> dict[str, str]:
    return shown(executed)


def test_the_stored_notebook_has_fixed_ids_and_no_outputs():
    document = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(document)
    ids = [cell.id for cell in document.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z-]+", cell_id) for cell_id in ids)
    for cell in document.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


def test_the_same_results_in_another_folder_give_the_same_bytes(executed, tmp_path):
    again = run(tmp_path / "elsewhere")
    assert again == executed
    assert str(tmp_path).encode() not in again


def test_nothing_of_the_machine_or_the_time_is_kept(executed):
    for cell in json.loads(executed)["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] in ("display_data", "execute_result"), output
    assert b"<dc:date>" not in executed
    assert b"/tmp/" not in executed and b"/home/" not in executed


def test_the_note_of_the_data_stands_wherever_numbers_are_shown(cells):
    for name in ("best", "texts", "fused", "classes"):
        assert NOTE in cells[name]


def test_without_a_note_nothing_is_said_of_constructed_ratings(tmp_path):
    cells = shown(run(tmp_path, note=""))
    assert not any("constructed" in text or "Note on the ratings" in text for text in cells.values())


def test_the_best_metric_is_chosen_by_pearson_with_the_likert_rating(cells):
    assert "Short-form QA | 10 | 1 | ROUGE-1 | 0.24 | -0.40 | 0.70 | 10 |" in cells["best"]
    assert "Summarisation | 6 | 0 | ROUGE-1 mean | 0.97 | 0.80 | 1.00 | 5 |" in cells["best"]


def test_the_swapped_responses_are_the_largest_disagreements_and_come_with_their_texts(cells):
    lines = cells["texts"].split("\n")
    over, under = lines.index("Over-rated by ROUGE-1"), lines.index("Under-rated by ROUGE-1")
    # q0: rank 0.95 by the metric; by people it shares the first five places, so 0.25. q9 is its mirror image.
    assert lines[over + 1 : over + 5] == [
        "q0 · s: people 1.00 of 5, metric 1.000, rank difference +0.70",
        "Question. Question number 0?",
        "Reference. right 0 / alias 0",
        "Response. answer 0 &amp; more",
    ]
    assert lines[under + 1] == "q9 · s: people 5.00 of 5, metric 0.100, rank difference -0.70"


def test_a_metric_that_follows_people_has_no_disagreements(cells):
    after = cells["texts"].split("Summarisation\n")[1].split("\n")
    assert after == ["Over-rated by ROUGE-1 mean", "None.", "Under-rated by ROUGE-1 mean", "None."]


def test_classes_show_mean_rank_differences_and_leave_constant_metrics_out(cells):
    # Ranks of q0–q4 by ROUGE-1: .95 .15 .25 .35 .45, mean .43; by people .25. q5–q9: mean .57 against .75.
    assert "Short-form QA | N-gram | 1 | 10 | 0 | 0.18 | 1 | -0.18 | 1 |" in cells["classes"]
    assert "Matching" not in cells["classes"]
    assert "Summarisation | N-gram | 1 | 5 | 1 | 0.00 | 0 | 0.00 | 0 |" in cells["classes"].replace("-0.00", "0.00")


def test_the_fused_metric_is_drawn_and_compared_on_blind_rows(executed, cells):
    assert "Short-form QA, 4 blind rows" in cells["fused"]
    assert "Summarisation, 3 blind rows" in cells["fused"]
    # Human ranks .25 .25 .75 .75; fused .125 .375 .625 .875: always .125 away, and none of it in one direction.
    assert "Short-form QA | Fused metric | 4 | 0 | 0.12 | 0.00 | 0.00 |" in cells["fused"].replace("-0.00", "0.00")
    # Best single .875 .375 .625 .125: distances .625 .125 .125 .625.
    assert "Short-form QA | Best single metric | 4 | 0 | 0.38 | 0.38 | -0.38 |" in cells["fused"]
    assert "Summarisation | Best single metric | 2 | 1 | 0.00 | 0.00 | 0.00 |" in cells["fused"]


def test_a_run_without_coefficients_stops_with_what_to_do(tmp_path):
    root = build(tmp_path, NOTE)
    write_csv(root / "correlations" / "short_form_qa.csv", CORRELATIONS, [])
    with pytest.raises(FaithfuseError, match=r"Run `faithfuse correlate`"):
        execute(NOTEBOOK, root / "out.ipynb", root)
    assert not (root / "out.ipynb").exists()
