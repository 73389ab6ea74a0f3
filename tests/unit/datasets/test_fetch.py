"""Files are complete and verified or absent, and a broken download is continued."""

from __future__ import annotations

import csv
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from faithfuse.datasets.fetch import _COLUMNS, RECORDED, fetch, read_registry
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.sources import SOURCES
from faithfuse.errors import FaithfuseError, InputError

CONTENT = bytes(range(256)) * 4000


@pytest.fixture
def server():
    """A server of one file that can break off, and that notes the ranges it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        asked: ClassVar[list] = []
        break_after: ClassVar[list] = []
        ranges = True

        def do_GET(self):
            if self.path != "/file":
                self.send_error(404)
                return
            wanted = self.headers.get("Range")
            type(self).asked.append(wanted)
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.ranges else 0
            if start >= len(CONTENT):
                self.send_error(416)
                return
            body = CONTENT[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            limit = type(self).break_after.pop(0) if type(self).break_after else len(body)
            self.wfile.write(body[:limit])

        def log_message(self, *arguments):
            pass

    class Fresh(Handler):
        asked, break_after = [], []

    running = HTTPServer(("127.0.0.1", 0), Fresh)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield Fresh, f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def registry(path, url, sha256=None, access="fetch", target="raw/x/file.json", how=""):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(_COLUMNS)
        digest = hashlib.sha256(CONTENT).hexdigest() if sha256 is None else sha256
        writer.writerow(["x", "1", target, url, digest, "MIT", "Someone", access, how])
    return path


def test_a_file_is_fetched_verified_and_not_fetched_again(server, tmp_path):
    handler, address = server
    data = registry(tmp_path / "data.csv", f"{address}/file")
    assert list(fetch(["x"], tmp_path / "out", data)) == ["x: raw/x/file.json fetched, verified"]
    assert (tmp_path / "out/raw/x/file.json").read_bytes() == CONTENT
    assert list(fetch(["all"], tmp_path / "out", data)) == ["x: raw/x/file.json is there, verified"]
    assert handler.asked == [None]


def test_a_broken_download_is_continued_where_it_broke(server, tmp_path):
    handler, address = server
    handler.break_after = [300_000, 1]
    data = registry(tmp_path / "data.csv", f"{address}/file")
    list(fetch(["x"], tmp_path / "out", data))
    assert (tmp_path / "out/raw/x/file.json").read_bytes() == CONTENT
    assert handler.asked == [None, "bytes=300000-", "bytes=300001-"]
    assert not list(tmp_path.glob("out/**/*.part"))


def test_a_download_that_keeps_breaking_is_continued_by_the_next_run(server, tmp_path):
    handler, address = server
    handler.break_after = [1000] * 5
    data = registry(tmp_path / "data.csv", f"{address}/file")
    with pytest.raises(FaithfuseError, match="Run the same command again"):
        list(fetch(["x"], tmp_path / "out", data))
    assert (tmp_path / "out/raw/x/file.json.part").stat().st_size == 5000
    list(fetch(["x"], tmp_path / "out", data))
    assert handler.asked[-1] == "bytes=5000-"
    assert (tmp_path / "out/raw/x/file.json").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_the_file_anew(server, tmp_path):
    handler, address = server
    handler.ranges = False
    handler.break_after = [1000]
    list(fetch(["x"], tmp_path / "out", registry(tmp_path / "data.csv", f"{address}/file")))
    assert (tmp_path / "out/raw/x/file.json").read_bytes() == CONTENT


def test_another_content_than_promised_is_removed(server, tmp_path):
    _, address = server
    data = registry(tmp_path / "data.csv", f"{address}/file", sha256="0" * 64)
    with pytest.raises(FaithfuseError, match="SHA-256"):
        list(fetch(["x"], tmp_path / "out", data))
    assert not [path for path in tmp_path.glob("out/**/*") if path.is_file()]


def test_an_unknown_digest_is_recorded_and_holds_from_then_on(server, tmp_path):
    _, address = server
    data = registry(tmp_path / "data.csv", f"{address}/file", sha256=RECORDED)
    (line,) = fetch(["x"], tmp_path / "out", data)
    assert "recorded" in line
    assert list(fetch(["x"], tmp_path / "out", data)) == ["x: raw/x/file.json is there, verified"]
    (tmp_path / "out/raw/x/file.json").write_bytes(b"changed")
    with pytest.raises(InputError, match="has the SHA-256"):
        list(fetch(["x"], tmp_path / "out", data))


def test_what_must_be_got_by_hand_is_explained(tmp_path):
    data = registry(tmp_path / "data.csv", "https://example.org", access="by hand", target="", how="accept the terms")
    (line,) = fetch(["x"], tmp_path / "out", data)
    assert line == "x: by hand: accept the terms (https://example.org; licence: MIT)"


def test_what_must_be_got_by_hand_is_explained_before_a_download_can_fail(server, tmp_path):
    _, address = server
    data = registry(tmp_path / "data.csv", f"{address}/nothing")
    with data.open("a", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerow(["x", "1", "", "https://example.org", "", "MIT", "Someone", "by hand", "accept"])
    told = fetch(["x"], tmp_path / "out", data)
    assert next(told) == "x: by hand: accept (https://example.org; licence: MIT)"
    with pytest.raises(FaithfuseError, match="404"):
        next(told)


def test_a_folder_that_cannot_be_written_is_told(server, tmp_path):
    _, address = server
    (tmp_path / "out").write_text("mine")
    with pytest.raises(FaithfuseError, match="cannot be written"):
        list(fetch(["x"], tmp_path / "out", registry(tmp_path / "data.csv", f"{address}/file")))


def test_a_wrong_address_is_no_retry(server, tmp_path):
    _, address = server
    with pytest.raises(FaithfuseError, match="404"):
        list(fetch(["x"], tmp_path / "out", registry(tmp_path / "data.csv", f"{address}/nothing")))


@pytest.mark.parametrize("target", ["../outside", "/etc/x"])
def test_a_path_that_leaves_the_data_folder_is_refused(tmp_path, target):
    with pytest.raises(InputError, match="leaves the data folder"):
        read_registry(registry(tmp_path / "data.csv", "https://example.org", target=target))


def test_only_web_addresses_are_fetched(tmp_path):
    with pytest.raises(FaithfuseError, match="http"):
        list(fetch(["x"], tmp_path, registry(tmp_path / "data.csv", "file:///etc/passwd")))


def test_an_unknown_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="no set y"):
        list(fetch(["y"], tmp_path, registry(tmp_path / "data.csv", "https://example.org")))


class TestRegistry:
    def test_it_names_every_set_with_the_modules_licence(self, repository):
        entries = read_registry(repository / "config/data.csv")
        known = {**SOURCES, **{name: i for name, i in IMPORTERS.items() if name != "own"}}
        assert {entry.set for entry in entries} == set(known)
        for entry in entries:
            if "nq_open" not in entry.path:
                assert entry.licence == known[entry.set].licence
            assert entry.citation
            assert entry.version
            assert entry.how if entry.access == "by hand" else entry.path.startswith(("human/", "raw/"))
            assert entry.access == "by hand" or entry.sha256 == RECORDED or len(entry.sha256) == 64
        paths = [entry.path for entry in entries if entry.path]
        assert len(paths) == len(set(paths))

    def test_digests_are_those_of_the_real_files(self, repository, real_data):
        from faithfuse.datasets.streams import file_digest

        checked = 0
        for entry in read_registry(repository / "config/data.csv"):
            path = real_data / entry.path
            if entry.path and path.is_file() and entry.sha256 != RECORDED:
                assert file_digest(path) == entry.sha256, entry.path
                checked += 1
        assert checked > 50
