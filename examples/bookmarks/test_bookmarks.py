"""A provider's own tests: a host in memory, with the real protocol between it and the handler."""

from pathlib import Path

import pytest
from bookmarks import provider

from extensor import InvalidProperty, NotFound, Unknown, is_unknown
from extensor.testing import connect

DOCS = {"name": "docs", "url": "https://example.org/guide", "owner": "ann", "pin": "4711-secret"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_what_is_previewed_is_saved_and_found_again(tmp_path: Path) -> None:
    async with connect(provider, config={"folder": str(tmp_path)}) as host:
        preview = await host.preview_save("bookmark@1.0", DOCS)
        assert not list(tmp_path.iterdir())
        saved = await host.save("bookmark@1.0", DOCS)
        found = await host.get("bookmark@1.0", {"name": "docs"})
    assert preview.properties == saved.properties == found.properties
    assert found.properties == {
        "name": "docs",
        "url": "https://example.org/guide",
        "owner": "ann",
        "tags": [],
        "host": "example.org",
    }


@pytest.mark.anyio
async def test_a_preview_passes_on_what_is_not_known_yet(tmp_path: Path) -> None:
    async with connect(provider, config={"folder": str(tmp_path)}) as host:
        preview = await host.preview_save("bookmark@1.0", {**DOCS, "url": Unknown("[reference('site').url]")})
    assert preview.properties is not None
    assert is_unknown(preview.properties["url"])
    assert preview.metadata is not None
    assert "$.properties.host" in preview.metadata.unknown


@pytest.mark.anyio
async def test_a_bad_address_is_told_at_its_place(tmp_path: Path) -> None:
    async with connect(provider, config={"folder": str(tmp_path)}) as host:
        with pytest.raises(InvalidProperty) as caught:
            await host.save("bookmark@1.0", {**DOCS, "url": "example.org"})
    assert caught.value.failure.faults[0].path == "$.properties.url"


@pytest.mark.anyio
async def test_what_was_deleted_is_gone_and_may_be_deleted_again(tmp_path: Path) -> None:
    async with connect(provider, config={"folder": str(tmp_path)}) as host:
        await host.save("bookmark@1.0", DOCS)
        await host.delete("bookmark@1.0", {"name": "docs"})
        await host.delete("bookmark@1.0", {"name": "docs"})
        with pytest.raises(NotFound):
            await host.get("bookmark@1.0", {"name": "docs"})
