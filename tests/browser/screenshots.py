"""Pictures of every view of the rating and labelling app, for `docs/annotate.md` and for looking at.

python tests/browser/screenshots.py docs/images/annotate        # one picture of each view
python tests/browser/screenshots.py FOLDER --all                # each, narrow and wide, light and dark
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conftest import ANSWER, CHROMIUM, CONFIG, FLAGS, SOURCE, Served, make_tuple
from PIL import Image

from faithfuse.annotate import adjudicate, judge, plan, sources
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings, create

NARROW, WIDE = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
HUGE = {"width": 1920, "height": 1080}
IN_DOCS: dict[str, tuple[dict[str, int], str]] = {
    "choose": (NARROW, "light"),
    "overview": (WIDE, "light"),
    "rate": (WIDE, "light"),
    "point": (WIDE, "dark"),
    "narrow-dark": (NARROW, "dark"),
    "offline": (NARROW, "light"),
    "two-windows": (NARROW, "dark"),
    "label-overview": (NARROW, "light"),
    "label": (WIDE, "light"),
    "label-narrow": (NARROW, "dark"),
    "rejected": (WIDE, "light"),
    "revision": (WIDE, "dark"),
    "progress": (WIDE, "light"),
    "label-progress": (WIDE, "dark"),
    "disagreements": (WIDE, "light"),
    "adjudicate-rating": (WIDE, "light"),
    "adjudicate": (WIDE, "light"),
    "no-link": (NARROW, "light"),
}
"""The size and the scheme in which `docs/` shows a view."""
INSTRUCTIONS = (
    "Read the question, the references and the response. Rate what the response says, not how it says it.\n\n"
    "If you cannot tell, abstain. There is no wrong answer, and nobody sees yours before all are done."
)


def rating_study(home: Path) -> Served:
    """A few questions and dialogues of the bundled sample; Anna is in the middle, Ben and Cleo further on."""
    settings = Settings(sample=3, seed=4, instructions=INSTRUCTIONS)
    create(home, settings)
    store = Store(home / "study.db", new=True)
    material = sources.load([CONFIG.parent / "sample"])
    plan.fill_ratings(store, settings, material, ("anna", "ben", "cleo"))
    for number, (name, share) in enumerate({"anna": 0.4, "ben": 0.7, "cleo": 0.6}.items()):
        total = judge.progress(store, name).total
        for position in range(1, int(total * share)):
            unit = judge.page(store, name, position).unit_id
            likert = (unit * 7 % 5 + (unit + number) % 3 // 2) % 5 + 1  # made up, alike but not equal
            judge.save(
                store,
                name,
                position,
                request_id=f"{name}-{position:04d}",
                base=0,
                likert=None if (unit + number) % 11 == 0 else likert,
                note="The date is off." if unit % 9 == 2 else "",
                seconds=6 + unit * 5 % 9,
            )
    return Served(home)


def label_study(home: Path) -> Served:
    """Three made-up tuples."""
    settings = Settings(kind="audit", title="Audit labels", seed=9)  # both begin with the same tuple
    create(home, settings)
    for name in ("codebook.yaml", "source_roles.yaml"):
        shutil.copyfile(CONFIG / name, home / name)
    path = home / "tuples.jsonl"
    tuples = [make_tuple(number, source=SOURCE, answer=ANSWER) for number in (1, 2, 3)]
    path.write_text("".join(json.dumps(each) + "\n" for each in tuples), encoding="utf-8")
    plan.fill_tuples(Store(home / "study.db", new=True), settings, sources.load_tuples([path]), ("anna", "ben"))
    return Served(home)


def first(served: Served, name: str, wanted: Callable[[judge.Page], bool]) -> int:
    """The first position of an annotator's list at which the page is as wanted."""
    total = judge.progress(served.store, name).total
    return next(n for n in range(1, total + 1) if wanted(judge.page(served.store, name, n)))


def rating_views(served: Served, visit: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The views of a rating study, in an order in which each can be had."""
    page = visit(served.base)
    yield "choose", page
    page.get_by_role("button", name="anna", exact=True).click()
    yield "overview", page
    for name, wanted in (
        ("rate", lambda each: each.standing is None and each.point is None and each.item.context == []),
        ("point", lambda each: each.standing is None and each.point is not None and len(each.item.context) > 5),
        ("narrow-dark", lambda each: each.standing is not None and each.point is None),
    ):
        page.goto(f"{served.base}/item/{first(served, 'anna', wanted)}")
        page.locator("#rate[data-listening]").wait_for()
        yield name, page
    position = first(served, "anna", lambda each: each.standing is None and each.point is None)
    page.goto(f"{served.base}/item/{position}")
    page.locator("#rate[data-listening]").wait_for()
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.get_by_text("Not saved yet: the connection is lost").wait_for()
    page.locator("#status").scroll_into_view_if_needed()
    yield "offline", page
    page.context.set_offline(False)
    page.wait_for_url(lambda url: not url.endswith(f"/item/{position}"))
    page.goto(f"{served.base}/item/{position}")
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("#rate[data-listening]").wait_for()
    other.keyboard.press("2")
    other.wait_for_url(lambda url: not url.endswith(f"/item/{position}"))
    other.close()
    page.locator("#rate[data-listening]").wait_for()
    page.keyboard.press("5")
    page.locator("#keep").wait_for()
    page.locator("#conflict").scroll_into_view_if_needed()
    yield "two-windows", page
    lead = visit(served.links["lead"])
    yield "progress", lead
    adjudicate.close(served.store)
    lead.goto(served.base + "/study/disagreements")
    yield "disagreements", lead
    lead.locator("tbody a").first.click()
    yield "adjudicate-rating", lead


def label_views(served: Served, visit: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The views of a labelling study."""
    from test_labelling import fill, judge, listening, mark

    for name, disclosure in (("ben", "1"), ("anna", "0")):
        page = visit(served.base)
        page.get_by_role("button", name=name, exact=True).click()
        if name == "anna":
            yield "label-overview", page
        page.locator("#go").click()
        listening(page)
        fill(page, disclosure)
        page.locator("#note").fill("The notice stands above the praise." if name == "ben" else "")
        page.evaluate("scrollTo(0, 0)")
        if name == "anna":
            yield "label", page
            yield "label-narrow", page
        page.locator("#save").click()
        page.wait_for_url("**/item/2")
    listening(page)
    judge(page, I="1")
    mark(page, "I", "answer", "excellent")
    page.locator("#save").click()
    page.locator("#problems-M p").wait_for()
    page.locator("fieldset[data-predicate=I]").scroll_into_view_if_needed()
    yield "rejected", page
    page.goto(served.base + "/item/1")
    listening(page)
    yield "revision", page
    lead = visit(served.links["lead"])
    yield "label-progress", lead
    adjudicate.close(served.store)
    lead.goto(served.base + "/study/disagreements")
    lead.locator("tbody a").first.click()
    listening(lead)
    yield "adjudicate", lead


def keep(page: Any, path: Path, *, whole: bool) -> None:
    """Write a page's picture with few colours: a fifth of the bytes."""
    data = page.screenshot(full_page=whole)
    Image.open(io.BytesIO(data)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main(out: Path, everything: bool) -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    modes = (
        [(size, scheme) for size in (NARROW, HUGE) for scheme in ("light", "dark")]
        if everything
        else [(size, scheme) for size in (NARROW, WIDE) for scheme in ("light", "dark")]
    )
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as temporary:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        for number, (size, scheme) in enumerate(modes):

            def visit(url: str, size=size, scheme=scheme) -> Any:
                page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
                page.goto(url)
                return page

            for kind, make, views in (("r", rating_study, rating_views), ("l", label_study, label_views)):
                served = make(Path(temporary) / f"{kind}{number}")
                served.start_thread()
                try:
                    for name, page in views(served, visit):
                        if everything or IN_DOCS[name] == (size, scheme):
                            suffix = f"-{size['width']}-{scheme}" if everything else ""
                            keep(page, out / f"{name}{suffix}.png", whole=everything)
                finally:
                    served.stop()
            locked = rating_study(Path(temporary) / f"k{number}")
            locked.tokens = True
            locked.start_thread()
            try:
                page = visit(locked.base)
                if everything or IN_DOCS["no-link"] == (size, scheme):
                    suffix = f"-{size['width']}-{scheme}" if everything else ""
                    keep(page, out / f"no-link{suffix}.png", whole=everything)
            finally:
                locked.stop()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--all" in sys.argv)
