"""Nobody else gets in, nothing on a page is code, and no annotator sees what should be hidden."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

from faithfuse.annotate import figures, judge, sources
from faithfuse.annotate.access import HEADERS, Access
from faithfuse.annotate.store import Store

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)> "quoted" & \u202eesrever\u202c \x00 \x1b[31m {{ 7*7 }}'


@pytest.fixture
def study(make_study, material):
    return make_study(material)


def rating(page: str, likert="4", **fields) -> dict[str, str]:
    """The form of a page, filled in."""
    values = {
        name: re.search(rf'name="{name}" value="([^"]*)"', page).group(1) for name in ("csrf", "request_id", "base")
    }
    return values | {"likert": likert, "note": "", "seconds": "3.5"} | fields


def test_a_rating_made_with_the_form_alone_is_stored_and_leads_on(study, client_of):
    client = client_of(study, "anna")
    page = client.get("/next")
    answer = client.post("/item/1", data=rating(page.text, note="fine"))
    assert answer.url.path == "/item/2"
    assert judge.page(Store(study.database), "anna", 1).standing == judge.Standing(4, "fine")


def test_the_answer_to_a_page_says_saved_only_for_what_is_stored(study, client_of):
    client = client_of(study, "anna")
    form = rating(client.get("/item/1").text)
    answer = client.post("/item/1", data=form, headers={"accept": "application/json"})
    assert answer.json() == {"saved": form["request_id"], "next": "/item/2"}
    again = client.post(
        "/item/1", data=form | {"request_id": "another-request"}, headers={"accept": "application/json"}
    )
    assert again.status_code == 409
    assert again.json()["likert"] == 4


@pytest.mark.parametrize("path", ["/next", "/item/1", "/study", "/study/disagreements"])
@pytest.mark.parametrize("tokens", [True, False])
def test_without_a_session_no_item_and_no_figure_is_shown(study, client_of, path, tokens):
    answer = client_of(study, tokens=tokens).get(path)
    assert "Question" not in answer.text
    assert "Coverage" not in answer.text
    assert answer.status_code == 401 or answer.url.path == "/"


def test_with_links_required_names_cannot_be_picked(study, client_of):
    client = client_of(study, tokens=True)
    assert client.get("/").status_code == 401
    assert "anna" not in client.get("/").text
    assert client.post("/choose", data={"name": "anna"}).status_code == 403
    assert client.get("/item/1").status_code == 401


def test_a_wrong_token_opens_nothing(study, client_of):
    client = client_of(study)
    for token in ("", "0" * 64, "é", Access(study, Store(study.database), tokens=True).token("annotator", "nobody")):
        assert client.get("/enter", params={"token": token}).status_code == 403
    assert client.get("/item/1").status_code == 401


def test_a_renewed_link_ends_the_old_link_and_its_sessions(study, client_of):
    client = client_of(study, "anna")
    access = Access(study, Store(study.database), tokens=True)
    old = access.token("annotator", "anna")
    access.renew("annotator", "anna")
    assert client.get("/item/1").status_code == 401
    assert client.get("/enter", params={"token": old}).status_code == 403
    assert client.get("/enter", params={"token": access.token("annotator", "anna")}).status_code == 200


def test_tokens_of_two_studies_differ(make_study, material):
    one, other = make_study(material), make_study(material)
    tokens = {Access(each, Store(each.database), tokens=True).token("annotator", "anna") for each in (one, other)}
    assert len(tokens) == 2


def test_a_session_that_was_tampered_with_counts_as_none(study, client_of):
    client = client_of(study, "anna")
    name, value = next(iter(client.cookies.items()))
    client.cookies.clear()
    client.cookies.set(name, value[:-3] + "abc")
    assert client.get("/item/1").status_code == 401


def test_an_annotator_does_not_reach_the_leads_pages(study, client_of):
    client = client_of(study, "anna", tokens=False)
    for path in ("/study", "/study/disagreements", "/study/disagreements/1"):
        assert client.get(path).status_code == 401
    page = client.get("/item/1").text
    assert client.post("/study/close", data={"csrf": rating(page)["csrf"]}).status_code == 401


@pytest.mark.parametrize("csrf", ["", "0" * 64, None])
def test_a_change_without_the_sessions_own_request_token_is_refused(study, client_of, csrf):
    client = client_of(study, "anna")
    form = rating(client.get("/item/1").text)
    form = {name: value for name, value in form.items() if name != "csrf"} | ({} if csrf is None else {"csrf": csrf})
    assert client.post("/item/1", data=form).status_code == 403
    assert judge.page(Store(study.database), "anna", 1).standing is None


def test_another_annotators_request_token_does_not_do(study, client_of):
    anna, ben = client_of(study, "anna"), client_of(study, "ben")
    form = rating(anna.get("/item/1").text) | {"csrf": rating(ben.get("/item/1").text)["csrf"]}
    assert anna.post("/item/1", data=form).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}, {"origin": ""}],
)
def test_a_change_from_another_site_is_refused_even_with_the_token(study, client_of, headers):
    client = client_of(study, "anna")
    form = rating(client.get("/item/1").text)
    assert client.post("/item/1", data=form, headers=headers).status_code == 403


def test_a_name_cannot_be_chosen_from_another_site(study, client_of):
    client = client_of(study, tokens=False)
    assert client.post("/choose", data={"name": "anna"}, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/choose", data={"name": "anna"}).url.path == "/"


def test_another_host_name_is_not_answered(study, client_of):
    client = client_of(study, "anna")
    assert client.get("/item/1", headers={"host": "evil.example"}).status_code == 400


def test_every_answer_carries_the_protective_headers(study, client_of):
    client = client_of(study, "anna")
    for path in ("/", "/item/1", "/item/999", "/nothing", "/study", "/static/app.css", "/enter?token=x"):
        answer = client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (path, name)
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert client.get("/item/1").headers["Cache-Control"] == "no-store"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(study, client_of):
    token = Access(study, Store(study.database), tokens=True).token("annotator", "anna")
    answer = client_of(study).get(f"/enter?token={token}", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert token not in cookie


def test_the_session_cookie_is_for_https_alone_when_the_page_is(study, client_of):
    token = Access(study, Store(study.database), tokens=True).token("annotator", "anna")
    answer = client_of(study).get(f"https://127.0.0.1/enter?token={token}", follow_redirects=False)
    assert "secure" in answer.headers["set-cookie"].lower()


def test_pages_hold_no_script_and_no_style_of_their_own(study, client_of):
    client = client_of(study, "anna")
    for path in ("/", "/item/1"):
        page = client.get(path).text
        assert not re.findall(r"<script(?![^>]*src=)", page)
        assert not re.findall(r"\son\w+=|\sstyle=|javascript:", page)


def hostile_study(make_study, made):
    turns = [{"speaker": HOSTILE, "text": HOSTILE}] * 14
    item = made.item(
        1,
        domain="conversational_qa",
        question=HOSTILE,
        context=turns,
        references={"short": [HOSTILE, HOSTILE], "long": [HOSTILE]},
    )
    material = sources.Material([item], [made.response(item.item_id, text=HOSTILE)])
    return make_study(material, title=HOSTILE, instructions=HOSTILE)


def test_hostile_text_is_shown_as_text(make_study, made, client_of):
    study = hostile_study(make_study, made)
    client = client_of(study, "anna")
    client.post("/item/1", data=rating(client.get("/item/1").text, note=HOSTILE))
    for path in ("/", "/item/1"):
        page = client.get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "{{ 7*7 }}" in page


def test_direction_overrides_and_controls_are_made_visible(make_study, made, client_of):
    page = client_of(hostile_study(make_study, made), "anna").get("/item/1").text
    shown = page[page.index('class="text judged"') :]
    assert 'title="RIGHT-TO-LEFT OVERRIDE">⇄' in shown
    for character in "\u202e\u202c\x00\x1b":
        assert character not in shown.split("</p>")[0]


def test_pages_say_nothing_of_systems_metrics_or_other_peoples_ratings(make_study, made, client_of):
    items = [made.item(n, provenance={"metric": "ROUGE 0.42"}) for n in range(1, 5)]
    responses = [
        made.response(item.item_id, system, prompt_digest="digest-of-prompt")
        for item in items
        for system in ("gpt-secret", "llama-secret")
    ]
    study = make_study(sources.Material(items, responses))
    ben = client_of(study, "ben")
    for position in range(1, 9):
        ben.post(f"/item/{position}", data=rating(ben.get(f"/item/{position}").text, "2", note="note of Ben"))
    anna = client_of(study, "anna", tokens=False)
    for position in range(1, 9):
        answer = anna.get(f"/item/{position}")
        everything = answer.text + str(answer.headers)
        for hidden in ("secret", "ROUGE", "0.42", "digest-of-prompt", "note of Ben", "ben", "made-up"):
            assert hidden not in everything
        assert 'data-standing=""' in answer.text
        assert 'aria-pressed="true" ' not in answer.text.split("<form")[1]


@pytest.mark.parametrize(
    "broken",
    [
        {"likert": "6"},
        {"likert": "0"},
        {"likert": ""},
        {"likert": "٣"},
        {"base": "x"},
        {"base": "-1"},
        {"request_id": "short"},
        {"request_id": "x" * 81},
        {"note": "x" * 10_001},
    ],
)
def test_a_malformed_rating_is_refused_and_nothing_is_stored(study, client_of, broken):
    client = client_of(study, "anna")
    assert client.post("/item/1", data=rating(client.get("/item/1").text) | broken).status_code == 400
    assert judge.page(Store(study.database), "anna", 1).standing is None


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "1e9", "x", ""])
def test_an_impossible_time_is_left_out_and_the_rating_kept(study, client_of, seconds):
    client = client_of(study, "anna")
    client.post("/item/1", data=rating(client.get("/item/1").text, seconds=seconds))
    store = Store(study.database)
    assert judge.page(store, "anna", 1).standing is not None
    assert store.read().execute("SELECT seconds FROM event").fetchone()[0] is None


def test_a_body_without_end_is_cut_off(study, client_of):
    client = client_of(study, "anna")
    assert client.post("/item/1", content=b"x" * (2**20 + 1)).status_code == 413


@pytest.mark.parametrize("body", [b"\xff\xfe", b"[1]", b'{"a": "\\ud800"}', b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(study, client_of, body):
    client = client_of(study, "anna")
    answer = client.post("/item/1", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


def test_a_position_that_is_not_mine_does_not_exist(study, client_of):
    client = client_of(study, "anna")
    for position in (0, 999, 10**18):
        assert client.get(f"/item/{position}").status_code == 404


def test_a_file_outside_the_static_folder_is_not_served(study, client_of):
    client = client_of(study, "anna")
    for path in ("/static/../web.py", "/static/%2e%2e/web.py", "/static/..%2fweb.py"):
        assert client.get(path).status_code == 404


def test_leaving_ends_the_session(study, client_of):
    client = client_of(study, "anna")
    client.post("/leave", data={"csrf": rating(client.get("/item/1").text)["csrf"]})
    assert client.get("/item/1").status_code == 401


def test_the_lead_sees_coverage_and_agreement_and_closes(study, client_of, made):
    for name, likert in (("anna", "4"), ("ben", "4")):
        client = client_of(study, name)
        for position in range(1, 28):
            client.post(f"/item/{position}", data=rating(client.get(f"/item/{position}").text, likert))
    lead = client_of(study, "lead")
    page = lead.get("/study").text
    assert "every rating is 4" in page
    closed = lead.post("/study/close", data={"csrf": made.csrf(page), "act": "close"}).text
    assert "Independent labelling is closed" in closed
    anna = client_of(study, "anna")
    assert anna.post("/item/1", data=rating(anna.get("/item/1").text)).status_code == 423


def test_the_lead_alone_downloads_everything(study, client_of):
    anna = client_of(study, "anna")
    anna.post("/item/1", data=rating(anna.get("/item/1").text, note="mine"))
    assert anna.get("/study/export.zip").status_code == 401
    answer = client_of(study, "lead").get("/study/export.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {"study/ratings.csv", "study/history.csv", "study/data_dictionary.csv"} <= set(archive.namelist())
        assert b",mine," in archive.read("study/history.csv")
        assert b"configfile study/run.yaml" in archive.read("study/run.yaml")


def test_who_adjudicates_sees_the_notes_to_what_stands(study, client_of, made):
    for name, likert, note in (("anna", "1", HOSTILE), ("ben", "5", "")):
        client = client_of(study, name)
        for position in range(1, 28):
            client.post(f"/item/{position}", data=rating(client.get(f"/item/{position}").text, likert, note=note))
    lead = client_of(study, "lead")
    lead.post("/study/close", data={"csrf": made.csrf(lead.get("/study").text), "act": "close"})
    page = lead.get("/study/disagreements/1").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_the_lead_sees_how_often_people_abstained(study, client_of):
    anna = client_of(study, "anna")
    for position, likert in ((1, "abstain"), (2, "4"), (3, "4"), (4, "2")):
        anna.post(f"/item/{position}", data=rating(anna.get(f"/item/{position}").text, likert))
    store = Store(study.database)
    assert {row["unresolved"] for row in figures.agreement(store, study.settings, resamples=0)} == {0.25}
