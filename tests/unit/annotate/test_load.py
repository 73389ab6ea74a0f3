"""Twenty annotators at once over real connections: every answer is right and stored. Times are in the benchmark."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from faithfuse.annotate import adjudicate, judge
from faithfuse.annotate.access import Access
from faithfuse.annotate.store import Store

ANNOTATORS = [f"rater-{number:02d}" for number in range(20)]
EACH = 8


@pytest.fixture
def server(make_study, material):
    study = make_study(material, names=ANNOTATORS)
    command = [sys.executable, "-m", "faithfuse", "annotate", "serve", str(study.folder), "--port", "0", "--tokens"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    base = None
    for line in process.stdout:
        base = base or (re.search(r"http://[\d.]+:\d+", line) or [None])[0]
        if line.startswith("Stop"):
            break
    yield study, base
    process.terminate()
    process.wait(timeout=10)


def test_twenty_annotators_at_once_lose_nothing_and_see_only_their_own(server):
    study, base = server
    access = Access(study, Store(study.database), tokens=True)

    def work(name: str) -> dict[int, int]:
        said = {}
        with httpx.Client(base_url=base, headers={"origin": base}, follow_redirects=True, timeout=30) as client:
            client.get("/enter", params={"token": access.token("annotator", name)})
            for turn in range(EACH):
                page = client.get("/next")
                assert name in page.text
                position = int(page.url.path.split("/")[-1])
                assert position == turn + 1
                fields = {
                    field: re.search(rf'name="{field}" value="([^"]*)"', page.text).group(1)
                    for field in ("csrf", "request_id", "base")
                }
                likert = (turn + ANNOTATORS.index(name)) % 5 + 1
                answer = client.post(
                    f"/item/{position}", data=fields | {"likert": likert}, headers={"accept": "application/json"}
                )
                assert answer.json()["saved"] == fields["request_id"]
                said[position] = likert
        return said

    with ThreadPoolExecutor(len(ANNOTATORS)) as pool:
        said = dict(zip(ANNOTATORS, pool.map(work, ANNOTATORS), strict=True))
    store = Store(study.database)
    stored = adjudicate.original_ratings(store.read())
    for name, ratings in said.items():
        for position, likert in ratings.items():
            assert stored[judge.page(store, name, position).unit_id][name] == likert
    assert store.read().execute("SELECT count(*) FROM event").fetchone()[0] == len(ANNOTATORS) * EACH
