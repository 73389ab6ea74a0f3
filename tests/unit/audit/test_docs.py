"""The page that a newcomer follows says what the program does."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from faithfuse.audit.record import json_schema
from faithfuse.audit.sealing import FIELDS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")


def test_the_first_record_of_the_page_is_sealed_checked_explained_and_logged(tmp_path):
    section = PAGE.split("## A first record in five minutes")[1].split("\n## ")[0]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL))
    (tmp_path / "config").mkdir()
    shutil.copytree(ROOT / "config" / "audit", tmp_path / "config" / "audit")
    script = f'set -e\nfaithfuse() {{ "{sys.executable}" -m faithfuse "$@"; }}\n{script}'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"```\n(2 records.*?)```", section, re.DOTALL).group(1)
    assert shown in done.stdout
    assert "Tuple kettle: an omission" in done.stdout
    assert "2 entries hold" in done.stdout


def test_the_page_names_every_column_that_can_be_sealed():
    for name in FIELDS:
        shown = re.sub(r"(^|_)[AMD]$", r"\1I", name)
        assert f"`{shown}`" in PAGE, name


def test_every_schema_field_is_in_the_record_contract():
    assert set(json_schema()["$defs"]["Record"]["properties"]) == {
        "annotation",
        "claim",
        "digests",
        "dimensions",
        "format",
        "support",
        "tuple",
        "validation",
        "weights",
    }
