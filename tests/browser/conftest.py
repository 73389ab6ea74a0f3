"""A study served by a real server process, and a real browser (Debian's Chromium, driven by Playwright)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import uvicorn

from faithfuse.annotate import plan, sources
from faithfuse.annotate.access import Access
from faithfuse.annotate.server import bind, links
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings, Study, create
from faithfuse.annotate.web import make_app
from faithfuse.records import Item, Response

CHROMIUM = os.environ.get("FAITHFUSE_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CONFIG = Path(__file__).resolve().parents[2] / "config" / "audit"


class Served:
    """A study that is served: by a thread of the tests or, where it has to be killed, by a process of its own."""

    def __init__(self, folder: Path, *, tokens: bool = False) -> None:
        self.study, self.folder = Study(folder), folder
        self.store = Store(self.study.database)
        self.tokens = tokens
        self.port, self.server, self.process = 0, None, None

    @property
    def base(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def links(self) -> dict[str, str]:
        """Everybody's link."""
        return links(Access(self.study, self.store, tokens=True), self.base)

    def start_thread(self) -> None:
        """Serve from a thread."""
        listener = bind("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        app = make_app(self.study, Store(self.study.database), tokens=self.tokens)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()

    def start_process(self) -> None:
        """Serve as `faithfuse annotate serve` does; a second start takes the port of the first."""
        command = [sys.executable, "-m", "faithfuse", "annotate", "serve", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://[\w.]+:(\d+)/", line):
                self.port = int(found.group(1))
            if line.startswith("Stop"):
                return
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """Kill the process as the system would: no chance to tidy up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop serving."""
        if self.server:
            self.server.should_exit = True
            self.server.force_exit = True
            self.thread.join(timeout=10)
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=10)


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once."""
    if not shutil.which(CHROMIUM):
        pytest.skip(f"no Chromium at {CHROMIUM}: install Debian's `chromium`, or set FAITHFUSE_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens pages, each in a browser of its own (own cookies and storage); closes them after the test."""
    contexts = []

    def visit(url: str, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(30_000)  # a machine that is busy with other things is no failure
        contexts.append(context)
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
        page.goto(url)
        return page

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def serve(tmp_path):
    """Makes studies and serves them; stops the servers after the test."""
    running: list[Served] = []

    def serve(material=None, *, tuples=None, names=("anna", "ben"), tokens=False, process=False, **settings) -> Served:
        folder = tmp_path / f"study-{len(running)}"
        chosen = Settings(kind="audit" if tuples else "rating", **settings)
        create(folder, chosen)
        store = Store(folder / "study.db", new=True)
        if tuples:
            for name in ("codebook.yaml", "source_roles.yaml"):
                shutil.copyfile(CONFIG / name, folder / name)
            path = tmp_path / "tuples.jsonl"
            path.write_text("".join(json.dumps(each) + "\n" for each in tuples), encoding="utf-8")
            plan.fill_tuples(store, chosen, sources.load_tuples([path]), names)
        else:
            plan.fill_ratings(store, chosen, material, names)
        served = Served(folder, tokens=tokens)
        running.append(served)
        served.start_process() if process else served.start_thread()
        return served

    yield serve
    for served in running:
        served.stop()


def make_item(number: int, **fields) -> Item:
    """A made-up question."""
    values = {
        "item_id": f"item-{number:03d}",
        "domain": "long_form_qa",
        "source_set": "made-up",
        "question": f"What is fact number {number}?",
        "references": {"long": [f"Fact number {number} is that {number} follows {number - 1}."]},
        "group": f"group-{number}",
    }
    return Item.model_validate(values | fields)


def make_response(item_id: str, system: str = "secret-system", **fields) -> Response:
    """A made-up response."""
    return Response.model_validate({"item_id": item_id, "system": system, "text": f"A response to {item_id}."} | fields)


@pytest.fixture
def questions() -> sources.Material:
    """Twenty-four questions with one response each."""
    items = [make_item(number) for number in range(1, 25)]
    return sources.Material(items, [make_response(item.item_id) for item in items])


@pytest.fixture
def dialogue() -> sources.Material:
    """One long dialogue with a summary of three points."""
    turns = [
        {"speaker": ("Mira", "Tom")[n % 2], "text": f"This is turn {n + 1}, we go on about {n * 7}."} for n in range(40)
    ]
    turns[30]["text"] = "The zeppelin lands at noon, bring the rope."
    item = make_item(
        1,
        domain="summarisation",
        question=None,
        context=turns,
        references={"points": ["The zeppelin lands at noon.", "A rope is needed."]},
    )
    points = ["The zeppelin lands at noon.", "Mira brings the rope.", "Tom likes turns."]
    text = "\n".join(f"* {point}" for point in points)
    return sources.Material([item], [make_response(item.item_id, text=text, points=points)])


def make_tuple(number: int, *, source: str, answer: str, query: str = "Is the Lumo lamp any good?") -> dict:
    """A made-up audit tuple."""
    return {
        "tuple_id": f"tuple-{number}",
        "query": {"id": f"query-{number}", "text": query},
        "source": {
            "id": f"https://example.org/lamp/{number}",
            "observed_at": "2026-01-02T00:00:00Z",
            "role": "affiliate",
            "text": source,
            "version": "1",
            "window": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"},
        },
        "answer": {"id": f"answer-{number}", "observed_at": "2026-01-03T00:00:00Z", "text": answer, "version": "1"},
        "pipeline": {"evidence_selection": [], "name": "made-up", "settings": {}, "version": "1"},
    }


SOURCE = (
    "🪔 Lumo review — cafe\u0301 edition\r\nWe earn a commission\r\nwhen you buy a lamp 👩‍👩‍👧 through our links.\r\n"
    "The Lumo lasts 20,000 hours.\n\nשלום: the lamp is \u202ereversed\u202c here."
)
ANSWER = "Reviewers say that the Lumo lamp 💡 is excellent\nand lasts 20,000 hours. It is the best lamp you can buy."


@pytest.fixture
def lamps() -> list[dict]:
    """Three tuples; the source has Windows line ends, emoji of several code points and a right-to-left override."""
    return [make_tuple(number, source=SOURCE, answer=ANSWER) for number in (1, 2, 3)]


RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


@pytest.fixture
def violations():
    """What axe finds on a page, in one line each, and by how much the page runs off the side."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

    def look(page) -> list[str]:
        found = axe.Axe().run(page, options=RULES).response["violations"]
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return [
            *(
                f"{each['id']}: {node['html'][:120]} ({node['failureSummary']})"
                for each in found
                for node in each["nodes"]
            ),
            *([f"{wide} pixels off the side"] if wide > 0 else []),
        ]

    return look
