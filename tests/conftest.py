"""Fixtures that every room's tests share."""

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops; a test marked `anyio` runs under each."""
    return request.param


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root folder."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reading material beside a development checkout; absent from a user's clone, required in CI."""
    place = Path(os.environ.get("EXTENSOR_SHARED") or PROJECT.parent / "shared")
    if not place.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"CI needs the shared test data at {place}")
        pytest.skip(f"no shared test data at {place}; set EXTENSOR_SHARED to run this test")
    return place
