"""The provider in memory: the real protocol, and no process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from extensor import NotFound, OperationFailed, Unknown
from extensor.testing import Host, connect

from sample_provider.provider import provider

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the tests run on."""
    return "asyncio"


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    """A host connected to the provider, whose notes are in a folder of the test's own."""
    async with connect(provider, config={"folder": str(tmp_path)}) as host:
        yield host


async def test_a_saved_note_is_what_get_shows(host: Host, tmp_path: Path) -> None:
    saved = await host.save("note@1.0", {"name": "hello", "text": "two words"})
    assert saved.properties == {"name": "hello", "text": "two words", "words": 2}
    assert saved.identifiers == {"name": "hello"}
    assert await host.get("note@1.0", {"name": "hello"}) == saved
    assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "two words"


async def test_saving_twice_changes_nothing(host: Host) -> None:
    desired = {"name": "hello", "text": "the same"}
    assert await host.save("note@1.0", desired) == await host.save("note@1.0", desired)


async def test_what_a_save_leaves_out_stays(host: Host) -> None:
    await host.save("note@1.0", {"name": "hello", "text": "kept"})
    saved = await host.save("note@1.0", {"name": "hello"})
    assert saved.properties == {"name": "hello", "text": "kept", "words": 1}


async def test_a_preview_shows_the_outcome_and_touches_nothing(host: Host, tmp_path: Path) -> None:
    preview = await host.preview_save("note@1.0", {"name": "hello", "text": "two words"})
    assert preview.properties is not None
    assert preview.properties["text"] == "two words"
    assert list(tmp_path.iterdir()) == []


async def test_a_text_that_is_not_known_yet_leaves_its_number_of_words_open(host: Host) -> None:
    preview = await host.preview_save("note@1.0", {"name": "hello", "text": Unknown("[reference('a').text]")})
    assert preview.metadata is not None
    assert "$.properties.words" in preview.metadata.unknown


async def test_deleting_twice_is_fine(host: Host) -> None:
    await host.save("note@1.0", {"name": "hello"})
    await host.delete("note@1.0", {"name": "hello"})
    await host.delete("note@1.0", {"name": "hello"})
    with pytest.raises(NotFound):
        await host.get("note@1.0", {"name": "hello"})


async def test_a_name_that_could_leave_the_folder_is_refused(host: Host) -> None:
    with pytest.raises(OperationFailed) as refused:
        await host.save("note@1.0", {"name": "../elsewhere"})
    (fault,) = refused.value.failure.faults
    assert (fault.code, fault.path) == ("InvalidProperty", "$.properties.name")
