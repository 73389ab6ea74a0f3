"""What is read from metric tables and ratings, and what is refused."""

from __future__ import annotations

import json

import pytest

from faithfuse.analysis.ratings import human_values, join, read_metrics, read_ratings
from faithfuse.errors import InputError
from faithfuse.records import Rating, write_records

HEADER = "item_id,system,annotator,point,likert\n"


def _ratings(tmp_path, text):
    path = tmp_path / "RATINGS.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


def _metrics(tmp_path, text):
    path = tmp_path / "METRICS.csv"
    path.write_text(text, encoding="utf-8")
    return path


def _rating(likert, annotator="a", point=None):
    return Rating(item_id="q", system="s", annotator=annotator, point=point, likert=likert)


def test_bool_is_taken_per_rating_and_then_averaged():
    human = human_values([_rating(2, "a"), _rating(5, "b")])["q", "s"]
    assert human.likert == 3.5
    assert human.faithful == 0.5  # not 1, which the averaged Likert of 3.5 would give


def test_a_summary_is_the_mean_over_points_of_the_mean_over_raters():
    ratings = [_rating(5, "a", 0), _rating(3, "b", 0), _rating(1, "a", 1)]
    human = human_values(ratings)["q", "s"]
    assert human.likert == pytest.approx((4 + 1) / 2)
    assert human.faithful == pytest.approx((1 + 0) / 2)
    assert human.by_rater == {"a": (3.0, 0.5), "b": (3.0, 1.0)}


def test_points_count_before_a_rating_of_the_whole():
    human = human_values([_rating(5, "a", None), _rating(1, "a", 0), _rating(2, "a", 1)])["q", "s"]
    assert human.likert == 1.5


def test_an_abstention_is_left_out_and_never_counts_as_a_low_rating():
    assert human_values([_rating(None)]) == {}
    assert human_values([_rating(None, "a"), _rating(4, "b")])["q", "s"].likert == 4


def test_csv_and_json_lines_give_the_same_ratings(tmp_path):
    path = _ratings(tmp_path, "q,s,a,,4\nq,s,b,,\nq,t,a,0,2.5\n")
    from_csv = read_ratings(path)
    write_records(tmp_path / "RATINGS.jsonl", from_csv)
    assert read_ratings(tmp_path / "RATINGS.jsonl") == from_csv
    assert [rating.likert for rating in from_csv] == [4, None, 2.5]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("q,s,a,,7\n", 2, "rating 7 is outside 1–5"),
        ("q,s,a,,0\n", 2, "rating 0 is outside 1–5"),
        ("q,s,a,,nan\n", 2, "outside 1–5"),
        ("q,s,a,,good\n", 2, "'good' is no number"),
        ("q,s,a,,4\nq,s,a,,5\n", 3, "repeats the rating of line 2"),
        ("q,s,a,first,4\n", 2, "point 'first'"),
        ("q,s,a,-1,4\n", 2, "point '-1'"),
        ("q,s,,,4\n", 2, "annotator is empty"),
        ("q,s,a,4\n", 2, "4 fields under 5 columns"),
        ('q,s,a,,"4\n', 2, "is not CSV"),
        ("", None, "has no ratings"),
    ],
)
def test_bad_ratings_are_refused_with_their_line(tmp_path, text, line, found):
    path = _ratings(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_ratings(path)
    assert error.value.path == path
    assert error.value.line == line
    assert found in str(error.value)
    assert error.value.fix


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "RATINGS.csv"
    path.write_text("item_id,system,annotator,likert\nq,s,a,4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"RATINGS\.csv:1: lacks the column point"):
        read_ratings(path)


def test_a_rating_of_seven_in_json_lines_is_refused_with_its_line(tmp_path):
    path = tmp_path / "RATINGS.jsonl"
    good = {"item_id": "q", "system": "s", "annotator": "a", "point": None, "likert": 4}
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"system": "t", "likert": 7}) + "\n")
    with pytest.raises(InputError) as error:
        read_ratings(path)
    assert error.value.line == 2


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("item_id,system,group,ROUGE-1\nq,s,g,0.5\nq,s,g,0.6\n", 3, "repeats the response of line 2"),
        ("item_id,system,group,ROUGE-1\nq,s,g,0.5\nq,t,h,0.6\n", 3, "is in group h, but in group g on line 2"),
        ("item_id,system,group,ROUGE-1\nq,s,g,high\n", 2, "ROUGE-1 is 'high'"),
        ("item_id,system,group,ROUGE-1\nq,s,g,inf\n", 2, "not a finite number"),
        ("item_id,system,group,ROUGE-1\nq,s,,0.5\n", 2, "group is empty"),
        ("item_id,system,ROUGE-1\nq,s,0.5\n", 1, "lacks the column group"),
        ("item_id,system,group,a,a\nq,s,g,1,2\n", 1, "has the column a more than once"),
        ("item_id,system,group\nq,s,g\n", 1, "has no metric"),
        ("item_id,system,group,ROUGE-1\n", None, "has no rows"),
        ("", None, "is empty"),
    ],
)
def test_bad_metric_tables_are_refused_with_their_line(tmp_path, text, line, found):
    path = _metrics(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_metrics(path)
    assert error.value.line == line
    assert found in str(error.value)


def test_a_line_is_counted_in_the_file_even_after_a_quoted_line_end(tmp_path):
    path = _metrics(tmp_path, 'item_id,system,group,a\n"q\nr",s,g,1\nq2,s,g,x\n')
    with pytest.raises(InputError) as error:
        read_metrics(path)
    assert error.value.line == 4


def test_a_metric_of_the_users_own_is_an_extension_of_the_class_other(tmp_path):
    table = read_metrics(_metrics(tmp_path, "item_id,system,group,ROUGE-1,my metric\nq,s,g,0.5,\n"))
    assert table.classes == {"ROUGE-1": "n-gram", "my metric": "other"}
    assert table.extension == {"ROUGE-1": False, "my metric": True}
    assert table.values[0, 1] != table.values[0, 1]  # empty is missing, not 0


def test_files_without_a_common_response_are_refused(tmp_path):
    table = read_metrics(_metrics(tmp_path, "item_id,system,group,a\nq,s,g,1\n"))
    path = _ratings(tmp_path, "other,s,a,,4\n")
    with pytest.raises(InputError, match="rates no response"):
        join(table, read_ratings(path), path)


def test_generated_responses_without_ratings_are_counted_and_left_out(tmp_path):
    table = read_metrics(_metrics(tmp_path, "item_id,system,group,a\nr,s,h,2\nq,s,g,1\nq,gen,g,3\n"))
    path = _ratings(tmp_path, "q,s,a,,4\nr,s,a,,\nz,s,a,,5\n")
    joined = join(table, read_ratings(path), path)
    assert joined.table.keys == [("q", "s")]
    assert (joined.unrated, joined.unmatched) == (2, 1)
