"""Small made-up studies, and clients that talk to the app without a network."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from faithfuse.annotate import plan, sources
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Settings, Study, create
from faithfuse.records import Item, Response

AUDIT = Path(__file__).resolve().parents[3] / "config" / "audit"


def make_item(number: int, **fields) -> Item:
    """A made-up question."""
    values = {
        "item_id": f"item-{number:03d}",
        "domain": "long_form_qa",
        "source_set": "made-up",
        "question": f"Question {number}?",
        "references": {"long": [f"Reference {number}."]},
        "group": f"group-{number}",
    }
    return Item.model_validate(values | fields)


def make_response(item_id: str, system: str = "system-x", **fields) -> Response:
    """A made-up response."""
    return Response.model_validate({"item_id": item_id, "system": system, "text": f"Response to {item_id}."} | fields)


def make_summary(number: int, points: int = 3) -> tuple[Item, Response]:
    """A made-up dialogue with a summary in points."""
    item = make_item(
        number,
        domain="summarisation",
        question=None,
        context=[{"speaker": "Ana", "text": "Hello."}],
        references={"points": ["Ana says hello."]},
    )
    texts = [f"Point {n}." for n in range(points)]
    return item, make_response(item.item_id, text="\n".join(texts), points=texts)


@pytest.fixture
def made() -> SimpleNamespace:
    """What makes single made-up records."""
    return SimpleNamespace(item=make_item, response=make_response, tuple=make_tuple, texts=TEXTS, csrf=csrf_of)


@pytest.fixture
def material() -> sources.Material:
    """Twelve questions answered by two systems, and one summary of three points."""
    items = [make_item(number) for number in range(1, 13)]
    responses = [make_response(item.item_id, system) for item in items for system in ("system-x", "system-y")]
    summary, points = make_summary(13)
    return sources.Material([*items, summary], [*responses, points])


@pytest.fixture
def make_study(tmp_path):
    """Makes rating studies of given material."""

    def make(material, names=("anna", "ben"), checks=None, **settings) -> Study:
        folder = tmp_path / f"study-{len(list(tmp_path.iterdir()))}"
        chosen = Settings(**settings)
        create(folder, chosen)
        plan.fill_ratings(Store(folder / "study.db", new=True), chosen, material, names, checks)
        return Study(folder)

    return make


TEXTS = {
    "query": "Is the lamp good? 💡",
    "source": "🪔 Lumo — cafe\u0301\r\nWe earn a commission\r\nwhen you buy 👩‍👩‍👧 a lamp.",
    "answer": "The lamp is excellent\nand lasts long.",
}


def make_tuple(number: int, **texts) -> dict:
    """A made-up audit tuple."""
    texts = TEXTS | texts
    return {
        "tuple_id": f"tuple-{number}",
        "query": {"id": f"query-{number}", "text": texts["query"]},
        "source": {
            "id": "https://example.org/lamp",
            "observed_at": "2026-01-02T00:00:00Z",
            "role": "affiliate",
            "text": texts["source"],
            "version": "1",
            "window": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"},
        },
        "answer": {"id": "a", "observed_at": "2026-01-03T00:00:00Z", "text": texts["answer"], "version": "1"},
        "pipeline": {"evidence_selection": [], "name": "made-up", "settings": {}, "version": "1"},
    }


@pytest.fixture
def make_audit(tmp_path):
    """Makes audit studies of made-up tuples."""

    def make(tuples=3, names=("anna", "ben"), **settings) -> Study:
        folder = tmp_path / f"audit-{len(list(tmp_path.iterdir()))}"
        chosen = Settings(kind="audit", **settings)
        create(folder, chosen)
        for name in ("codebook.yaml", "source_roles.yaml"):
            shutil.copyfile(AUDIT / name, folder / name)
        weights = dict.fromkeys(("dA", "dD", "dI", "dM", "dQ"), 0.2)
        material = [{"tuple": make_tuple(n), "weights": weights, "dQ": 0.5} for n in range(1, tuples + 1)]
        plan.fill_tuples(Store(folder / "study.db", new=True), chosen, material, names)
        return Study(folder)

    return make


@pytest.fixture
def client_of():
    """Clients of an app: `client_of(study, "anna")` has come in as Anna, `"lead"` as the lead, None as nobody."""
    from starlette.testclient import TestClient

    from faithfuse.annotate.access import Access
    from faithfuse.annotate.web import make_app

    def client_of(study: Study, who: str | None = None, *, tokens: bool = True, **options) -> TestClient:
        store = Store(study.database)
        client = TestClient(
            make_app(study, store, tokens=tokens),
            base_url="http://127.0.0.1",
            headers={"origin": "http://127.0.0.1"},
            **options,
        )
        if who:
            role = "lead" if who == "lead" else "annotator"
            token = Access(study, store, tokens=tokens).token(role, who)
            assert client.get(f"/enter?token={token}").status_code == 200
        return client

    return client_of


def csrf_of(page: str) -> str:
    """The request token of a page."""
    return re.search(r'name="csrf" content="([0-9a-f]*)"', page).group(1)
