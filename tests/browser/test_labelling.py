"""Labelling in a real browser: passages marked by mouse and by keyboard, records sealed, rejections in place."""

from __future__ import annotations

import json

from faithfuse.annotate import adjudicate, export
from faithfuse.audit.check import check_bytes
from faithfuse.audit.record import texts

# Selects a passage of a pane as a mouse would: from one place of the page's text to another, across its nodes.
SELECT = """([id, quote]) => {
  const pane = document.getElementById(id);
  const from = pane.textContent.indexOf(quote);
  const place = (offset) => {
    const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    let before = 0;
    while (walker.nextNode()) {
      const { length } = walker.currentNode.data;
      if (before + length >= offset) return [walker.currentNode, offset - before];
      before += length;
    }
  };
  getSelection().setBaseAndExtent(...place(from), ...place(from + quote.length));
}"""


def open_tuple(visit, served, name="anna", **options):
    page = visit(served.base, **options)
    page.get_by_role("button", name=name, exact=True).click()
    page.locator("#go").click()
    listening(page)
    return page


def listening(page) -> None:
    """Wait until the page's script runs."""
    page.locator("#labels[data-listening]").wait_for()


def mark(page, name: str, snapshot: str, quote: str) -> None:
    page.evaluate(SELECT, [snapshot, quote])
    page.locator(f".mark-as[data-predicate={name}]").click()


def judge(page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"input[name='{name}'][value='{value}']").check()


def records(served) -> list[dict]:
    lines = export.record_lines(served.store)
    assert all(check_bytes(line.encode()).accepted for line in lines)
    return [json.loads(line) for line in lines]


PASSAGES = {
    "I": ("source", "earn a commission\r\nwhen you buy a lamp 👩‍👩‍👧 through our links"),
    "A": ("answer", "the Lumo lamp 💡 is excellent\nand lasts"),
    "M": ("answer", "the best lamp you can buy"),
    "D": ("answer", "Reviewers say"),
}


def fill(page, disclosure="0") -> None:
    for name, (snapshot, quote) in PASSAGES.items():
        mark(page, name, snapshot, quote)
    judge(page, I="1", A="1", M="1", D=disclosure, support="1")


def test_passages_marked_across_line_ends_and_emoji_are_code_points_of_the_stored_text(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)
    fill(page)
    assert page.locator("mark.mark-I").first.is_visible()
    page.locator("#save").click()
    page.wait_for_url("**/item/2")
    (record,) = records(served)
    snapshots = texts(record)
    for name, (snapshot, quote) in PASSAGES.items():
        (span,) = record["annotation"]["evidence"][name]
        assert snapshots[snapshot][span["start"] : span["end"]] == quote
    assert record["annotation"]["judgements"] == {"I": 1, "A": 1, "M": 1, "D": 0}
    assert page.locator("#status").inner_text() == "The labels are sealed and saved."
    assert page.problems == []


def test_a_passage_dragged_with_the_mouse_is_what_is_stored(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served, viewport={"width": 1440, "height": 900})
    boxes = page.locator("#answer").evaluate(
        """pane => ["excellent", "20,000"].map((word, end) => {
          const node = pane.firstChild, at = node.data.indexOf(word);
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          const box = range.getBoundingClientRect();
          return [end ? box.right - 1 : box.left + 1, box.top + box.height / 2];
        })"""
    )
    page.mouse.move(*boxes[0])
    page.mouse.down()
    page.mouse.move(*boxes[1], steps=8)
    page.mouse.up()
    page.keyboard.press("a")
    assert page.locator("fieldset[data-predicate=A] q").inner_text() == "excellent\nand lasts 20,000"


def test_everything_is_done_with_the_keyboard_alone(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)

    def tab_to(selector: str) -> None:
        for _ in range(60):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached with Tab")

    tab_to("#answer")
    page.keyboard.press("Control+Home")
    for _ in range(9):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("a")
    assert page.locator("fieldset[data-predicate=A] q").inner_text() == "Reviewers"
    page.keyboard.press("End")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("d")
    assert page.locator("fieldset[data-predicate=D] q").count() == 1
    tab_to("input[name=I]")
    tab_to("#reason-I")
    page.keyboard.type("the source does not say, I think: adam")
    tab_to("input[name=A]")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.locator("input[name=A][value='1']").is_checked()
    tab_to("#reason-M")
    page.keyboard.type("open")
    tab_to("input[name=D]")
    page.keyboard.press("ArrowUp")
    assert page.locator("input[name=D][value='0']").is_checked()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/item/2")
    (record,) = records(served)
    assert record["annotation"]["judgements"] == {"I": None, "A": 1, "M": None, "D": 0}
    assert record["annotation"]["reasons"]["I"] == "the source does not say, I think: adam"
    assert len(record["annotation"]["evidence"]["A"]) == 1


def test_the_texts_cannot_be_changed(serve, visit, lamps):
    page = open_tuple(visit, serve(tuples=lamps))
    before = page.locator("#answer").evaluate("pane => pane.textContent")
    page.locator("#answer").click()
    page.keyboard.type("x1z\n")
    for key in ("Backspace", "Delete", "Control+x", "Control+v", "Enter", "Control+z"):
        page.keyboard.press("Control+a")
        page.keyboard.press(key)
    assert page.locator("#answer").evaluate("pane => pane.textContent") == before


def test_what_the_checker_rejects_is_shown_in_its_place_and_not_stored(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)
    judge(page, I="1")
    mark(page, "I", "answer", "excellent")
    page.locator("#reason-A").fill("open")
    page.locator("#save").click()
    page.locator("#problems-M p").wait_for()
    codes = {
        name: page.locator(f"#problems-{name} p").evaluate_all("all => all.map((one) => one.dataset.code)")
        for name in "IAMD"
    }
    assert codes == {
        "I": ["evidence.inadmissible"],
        "A": [],
        "M": ["predicate.reason"],
        "D": ["predicate.reason"],
    }
    assert "Not saved: the checker rejects" in page.locator("#status").inner_text()
    assert records(served) == []
    page.get_by_role("button", name="Remove evidence 1 for I").click()
    mark(page, "I", "source", "commission")
    page.locator("#reason-M").fill("open")
    page.locator("#reason-D").fill("open")
    page.locator("#save").click()
    page.wait_for_url("**/item/2")
    assert len(records(served)) == 1


def test_a_change_is_a_new_revision_and_the_old_one_stays(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)
    fill(page)
    page.locator("#save").click()
    page.wait_for_url("**/item/2")
    page.goto(served.base + "/item/1")
    listening(page)
    assert page.locator("fieldset[data-predicate=I] q").text_content() == PASSAGES["I"][1]
    assert "revision 1" in page.locator(".notice").inner_text()
    judge(page, D="1")
    page.locator("#save").click()
    page.wait_for_url("**/item/2")
    first, second = records(served)
    assert second["annotation"]["replaces"] == first["digests"]["annotation"]
    assert second["annotation"]["evidence"] == first["annotation"]["evidence"]


def test_what_was_not_saved_comes_back_after_the_window_was_closed(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)
    fill(page)
    page.locator("#note").fill("not done yet")
    context, url = page.context, page.url
    page.close()
    page = context.new_page()
    page.goto(url)
    listening(page)
    assert page.locator("#status").inner_text() == "What you had not saved yet is back."
    assert page.locator("#note").input_value() == "not done yet"
    page.locator("#save").click()
    page.wait_for_url("**/item/2")
    assert len(records(served)) == 1


def test_labels_made_without_a_connection_are_sent_again_and_sealed_once(serve, visit, lamps):
    served = serve(tuples=lamps)
    page = open_tuple(visit, served)
    fill(page)
    page.context.set_offline(True)
    page.locator("#save").click()
    page.get_by_text("Not saved yet: the connection is lost").wait_for()
    page.context.set_offline(False)
    page.wait_for_url("**/item/2")
    assert len(records(served)) == 1


def test_the_role_guides_and_the_codebook_is_on_hand(serve, visit, lamps):
    page = open_tuple(visit, serve(tuples=lamps))
    page.locator("fieldset[data-predicate=I] summary").click()
    assert "silence does not" in page.locator("fieldset[data-predicate=I] details").inner_text()
    page.locator(".role summary").click()
    assert "commission or affiliate notice" in page.locator(".role").inner_text()
    assert page.locator("input:checked").evaluate_all("all => all.map((one) => one.value)") == [""] * 5


def test_labels_are_adjudicated_after_closing_beside_the_originals(serve, visit, lamps, violations):
    served = serve(tuples=lamps[:1])
    for name, disclosure in (("anna", "0"), ("ben", "1")):
        page = open_tuple(visit, served, name)
        fill(page, disclosure)
        page.locator("#save").click()
        page.wait_for_url(served.base + "/")
    before = records(served)
    lead = visit(served.links["lead"], viewport={"width": 360, "height": 740})
    lead.get_by_role("button", name="Close independent labelling").click()
    lead.get_by_role("link", name="Decide on disagreements").click()
    assert lead.locator("tbody td").first.inner_text() == "D"
    lead.locator("tbody a").click()
    assert lead.locator(".said .differs").all_inner_texts() == ["0", "1"]
    listening(lead)
    assert violations(lead) == []
    lead.get_by_role("link", name="Start from the labels of anna").click()
    lead.get_by_text("Below are the labels of anna").wait_for()
    listening(lead)
    assert lead.locator("input[name=D]:checked").get_attribute("value") == "0"
    assert violations(lead) == []
    lead.locator("#save").click()
    lead.wait_for_url("**/disagreements")
    (decided,) = adjudicate.decisions(served.store.read()).values()
    assert decided["record"]["annotation"]["judgements"]["D"] == 0
    assert decided["record"]["annotation"]["annotator"] == adjudicate.ADJUDICATOR
    assert decided["record"]["annotation"]["evidence"] == before[0]["annotation"]["evidence"]
    assert records(served) == before
    assert lead.problems == []
