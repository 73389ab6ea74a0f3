"""What tests share: where the repository, the embedded models and the real data are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository's root."""
    return REPOSITORY


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of the embedded models; `make test` obtains them first."""
    folder = REPOSITORY / ".models"
    if not (folder / "smollm2-135m" / "fetched.json").is_file():
        pytest.fail("the embedded models are missing; run `make models`")
    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public data; tests that need it are skipped without it."""
    folder = os.environ.get("FAITHFUSE_DATA")
    if not folder:
        pytest.skip("FAITHFUSE_DATA is not set: no real data to test on")
    return Path(folder)


@pytest.fixture(scope="session")
def soak() -> bool:
    """Whether to run the long versions (`make soak`)."""
    return os.environ.get("FAITHFUSE_SOAK") == "1"
