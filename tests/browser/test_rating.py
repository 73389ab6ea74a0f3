"""Rating in a real browser: by keys alone, on two devices, in two windows, without a connection."""

from __future__ import annotations

from faithfuse.annotate import adjudicate, judge, sources


def come_in(visit, served, name="anna", **options):
    page = visit(served.base, **options)
    page.get_by_role("button", name=name, exact=True).click()
    return page


def listening(page) -> None:
    """Wait until the page takes rating keys; it ignores those that were meant for the page before."""
    page.locator("#rate[data-listening]").wait_for()


def press(page, key: str, *, goes_to: str | None = None):
    """Press a rating key once the page listens, and wait for the next page."""
    listening(page)
    before = page.url
    page.keyboard.press(key)
    page.wait_for_url(goes_to or (lambda url: url != before))


def standing(served, name="anna") -> dict[int, int | None]:
    store = served.store
    pages = [judge.page(store, name, n) for n in range(1, judge.progress(store, name).total + 1)]
    return {page.position: page.standing.likert for page in pages if page.standing}


def test_twenty_items_are_rated_by_keys_alone_with_abstaining_undo_and_resuming(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.keyboard.press("Tab")
    page.locator("#go").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/1")
    expected = {}
    for position in range(1, 21):
        key = "a" if position % 7 == 0 else str(position % 5 + 1)
        press(page, key, goes_to=f"**/item/{position + 1}")
        expected[position] = None if key == "a" else int(key)
        assert standing(served)[position] == expected[position], "the page went on before the rating was stored"
    assert page.locator("#status").inner_text() == "Item 20: 1, saved. U takes it back."
    assert "20 done" in page.locator(".left").inner_text()
    assert "about under" not in page.locator(".left").inner_text()

    press(page, "u", goes_to="**/item/20")
    assert 20 not in standing(served)
    press(page, "ArrowLeft", goes_to="**/item/19")
    assert page.locator("[aria-pressed=true][name=likert]").get_attribute("value") == "5"
    press(page, "2", goes_to="**/item/20")
    assert standing(served)[19] == 2

    elsewhere = come_in(visit, served, viewport={"width": 360, "height": 740})
    elsewhere.locator("#go").click()
    elsewhere.wait_for_url("**/item/20")
    assert standing(served) == {position: expected[position] for position in range(1, 19)} | {19: 2}
    assert page.problems == []


def test_the_end_is_said_and_answers_can_still_be_looked_at(serve, visit, questions):
    served = serve(sources.Material(questions.items[:2], questions.responses[:2]))
    page = come_in(visit, served)
    page.locator("#go").click()
    press(page, "5")
    press(page, "4", goes_to=served.base + "/")
    assert "All done" in page.locator("main").inner_text()


def test_a_note_is_saved_with_the_rating_and_can_be_changed_alone(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    listening(page)
    page.keyboard.press("n")
    page.keyboard.type("12345 a u: typed, not rated")
    page.keyboard.press("Escape")
    press(page, "3")
    press(page, "ArrowLeft", goes_to="**/item/1")
    assert page.locator("#note").input_value() == "12345 a u: typed, not rated"
    page.locator("#note").fill("changed")
    page.locator("#save-note").click()
    page.wait_for_url("**/item/2")
    assert judge.page(served.store, "anna", 1).standing == judge.Standing(3, "changed")


def test_a_note_that_is_not_saved_yet_survives_arrows_and_a_closed_window(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    listening(page)
    page.keyboard.press("n")
    page.keyboard.type("half a thought")
    page.keyboard.press("Escape")
    press(page, "ArrowRight", goes_to="**/item/2")
    assert page.locator("#note").input_value() == ""
    context = page.context
    page.close()
    page = context.new_page()
    page.goto(served.base + "/item/1")
    page.get_by_text("The note that you had not saved yet is back").wait_for()
    assert page.locator("#note").input_value() == "half a thought"
    press(page, "3")
    assert judge.page(served.store, "anna", 1).standing == judge.Standing(3, "half a thought")
    page.goto(served.base + "/item/1")
    listening(page)
    assert page.locator("#status").inner_text() == "You said: 3."


def test_a_browser_that_keeps_nothing_for_pages_rates_and_waits_for_the_connection_too(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError'); }})"
    )
    page.locator("#go").click()
    press(page, "4")
    listening(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.get_by_text("kept in this window alone (leave it open)").wait_for()
    page.context.set_offline(False)
    page.wait_for_url("**/item/3")
    assert standing(served) == {1: 4, 2: 2}


def test_two_windows_of_one_annotator_do_not_overwrite_each_other_unseen(serve, visit, questions):
    served = serve(questions)
    one = come_in(visit, served)
    one.goto(served.base + "/item/1")
    two = one.context.new_page()
    two.goto(served.base + "/item/1")
    press(one, "5")
    listening(two)
    two.keyboard.press("2")
    two.locator("#keep").wait_for()
    assert "you rated this 5. Here you chose 2" in two.locator("#conflict").inner_text()
    assert standing(served) == {1: 5}
    two.locator("#replace").click()
    two.wait_for_url("**/item/2")
    assert standing(served) == {1: 2}

    three = one.context.new_page()
    three.goto(served.base + "/item/2")
    press(two, "4")
    listening(three)
    three.keyboard.press("1")
    three.locator("#keep").click()
    three.locator("[aria-pressed=true][value='4']").wait_for()
    assert standing(served) == {1: 2, 2: 4}


def test_a_rating_made_without_a_connection_is_kept_and_sent_again(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    listening(page)
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.get_by_text("Not saved yet: the connection is lost").wait_for()
    assert standing(served) == {}
    page.context.set_offline(False)
    page.wait_for_url("**/item/2")
    assert standing(served) == {1: 4}


def test_a_rating_whose_answer_was_lost_is_stored_once(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    lost = []

    def lose_the_first_answer(route):
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch().status)
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/item/1", lose_the_first_answer)
    press(page, "4", goes_to="**/item/2")
    assert lost == [200]
    assert standing(served) == {1: 4}
    assert served.store.read().execute("SELECT count(*) FROM event").fetchone()[0] == 1


def test_kill_9_of_the_server_while_rating_loses_nothing_even_if_the_window_is_closed(serve, visit, questions):
    served = serve(questions, process=True)
    page = come_in(visit, served)
    page.locator("#go").click()
    press(page, "5")
    listening(page)
    served.kill()
    page.keyboard.press("2")
    page.get_by_text("Not saved yet: the connection is lost").wait_for()
    context = page.context
    page.close()
    served.start_process()
    again = context.new_page()
    again.goto(served.base + "/item/3")
    again.wait_for_function("document.getElementById('status').textContent.includes('Item 2: 2, saved')")
    assert standing(served) == {1: 5, 2: 2}


def test_keys_can_be_switched_off(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    page.locator(".keys summary").click()
    page.locator("#shortcuts").click()
    assert page.locator("#shortcuts").get_attribute("aria-pressed") == "false"
    page.locator("h1").focus()
    listening(page)
    page.keyboard.press("3")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert page.url.endswith("/item/1")
    assert standing(served) == {}
    page.locator("button[value='3']").click()
    page.wait_for_url("**/item/2")


def test_a_key_that_is_held_down_rates_one_item(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    listening(page)
    page.keyboard.down("4")
    for _ in range(5):
        page.keyboard.down("4")
    page.wait_for_url("**/item/2")
    page.keyboard.down("4")
    listening(page)
    page.keyboard.down("4")
    page.wait_for_timeout(200)
    page.keyboard.up("4")
    assert standing(served) == {1: 4}


def test_rating_works_without_javascript(serve, visit, questions):
    served = serve(questions)
    page = come_in(visit, served, java_script_enabled=False)
    page.locator("#go").click()
    page.locator("#note").fill("no script")
    page.locator("button[value='4']").click()
    assert page.url.endswith("/item/2")
    assert judge.page(served.store, "anna", 1).standing == judge.Standing(4, "no script")
    page.get_by_role("button", name="Undo last rating").click()
    assert page.url.endswith("/item/1")
    assert standing(served) == {}


def test_the_points_of_a_summary_come_in_turn_with_the_relevant_turns_in_reach(serve, visit, dialogue):
    served = serve(dialogue)
    page = come_in(visit, served)
    page.locator("#go").click()
    assert page.locator("h2", has_text="Summary, point 1 of 3").is_visible()
    assert page.locator(".judged").inner_text() == "The zeppelin lands at noon."
    assert page.locator("#turn-31").evaluate("e => e.classList.contains('relevant')")
    page.get_by_role("link", name="turn 31").click()
    page.wait_for_function(
        """() => {
          const [turn, pane] = ["#turn-31", ".dialogue .scroll"].map((s) => document.querySelector(s));
          const [inner, outer] = [turn.getBoundingClientRect(), pane.getBoundingClientRect()];
          return outer.top - 1 <= inner.top && inner.bottom <= outer.bottom + 1;
        }"""
    )
    press(page, "4", goes_to="**/item/2")
    assert page.locator(".judged").inner_text() == "Mira brings the rope."


HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script> \u202elamron ton\u202c end"
)


def test_hostile_text_runs_nothing_and_turns_nothing_around(serve, visit, questions):
    item = questions.items[0].model_copy(update={"question": HOSTILE})
    response = questions.responses[0].model_copy(update={"text": HOSTILE})
    served = serve(sources.Material([item], [response]), title=HOSTILE[:60])
    page = come_in(visit, served)
    page.locator("#go").click()
    assert page.locator(".judged").inner_text().startswith("<img src=x onerror")
    assert page.locator(".judged .control").count() == 2
    # The sentence after the override stands to its right, as it was written.
    positions = page.locator(".judged").evaluate(
        """element => {
          const place = (word) => {
            const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
              const at = walker.currentNode.data.indexOf(word);
              if (at < 0) continue;
              const range = document.createRange();
              range.setStart(walker.currentNode, at);
              range.setEnd(walker.currentNode, at + 1);
              return range.getBoundingClientRect().left;
            }
          };
          return [place("lamron"), place("end")];
        }"""
    )
    assert positions[0] < positions[1]
    assert page.title() != "owned"
    assert "secret-system" not in page.content()
    assert page.problems == []


def test_with_links_required_a_link_lets_its_owner_in_and_nobody_else(serve, visit, questions):
    served = serve(questions, tokens=True)
    stranger = visit(served.base)
    assert "Open the personal link" in stranger.locator("main").inner_text()
    anna = visit(served.links["anna"])
    assert anna.url == served.base + "/"
    assert "Welcome, anna" in anna.locator("h1").inner_text()
    anna.goto(served.base + "/study")
    assert "Coverage" not in anna.content()


def test_a_rating_that_was_refused_for_an_ended_session_is_kept(serve, visit, questions):
    from faithfuse.annotate.access import Access
    from faithfuse.annotate.study import Study

    served = serve(questions)
    page = come_in(visit, served)
    page.locator("#go").click()
    listening(page)
    Access(Study(served.folder), served.store, tokens=False).renew("annotator", "anna")
    page.keyboard.press("4")
    page.get_by_text("Not saved. Choose your name first.").wait_for()
    page.goto(served.base)
    page.get_by_role("button", name="anna", exact=True).click()
    page.locator("#go").click()
    page.wait_for_url("**/item/2")
    assert standing(served) == {1: 4}


def test_ratings_are_adjudicated_after_closing_beside_the_originals(serve, visit, questions):
    served = serve(sources.Material(questions.items[:2], questions.responses[:2]))
    for name, key in (("anna", "5"), ("ben", "1")):
        page = come_in(visit, served, name)
        page.locator("#go").click()
        press(page, key)
        press(page, key, goes_to=served.base + "/")
    lead = visit(served.links["lead"], viewport={"width": 360, "height": 740})
    lead.get_by_role("link", name="Disagreements").click()
    assert lead.locator("tbody a").count() == 0
    lead.get_by_role("link", name="progress page").click()
    lead.get_by_role("button", name="Close independent labelling").click()
    lead.get_by_role("link", name="Decide on disagreements").click()
    lead.locator("tbody a").first.click()
    lead.locator("#decide[data-listening]").wait_for()
    lead.keyboard.press("n")
    lead.keyboard.type("the reference says so, not 5")
    lead.keyboard.press("Escape")
    lead.keyboard.press("2")
    lead.wait_for_url("**/disagreements")
    assert "1 decided" in lead.locator("main").inner_text()
    (decided,) = adjudicate.decisions(served.store.read()).values()
    assert (decided["likert"], decided["note"]) == (2, "the reference says so, not 5")
    with lead.expect_download() as download:
        lead.get_by_role("link", name="Progress").click()
        lead.get_by_role("link", name="Download everything").click()
    assert download.value.suggested_filename == "study.zip"
    assert standing(served, "anna") == {1: 5, 2: 5}
    assert standing(served, "ben") == {1: 1, 2: 1}
    page.goto(served.base + "/item/1")
    assert page.locator("button[value='3']").is_disabled()
