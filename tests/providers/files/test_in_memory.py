"""The provider inside the test's own process, under both event loops."""

from pathlib import Path

import anyio
import pytest

from extensor import NotFound, Unknown
from extensor.testing import connect
from extensor_providers.files.provider import provider

pytestmark = pytest.mark.anyio


async def test_a_file_lives_its_life(root: Path) -> None:
    async with connect(provider, config={"root": str(root)}) as host:
        with anyio.fail_after(10):
            given = {"path": "d/f.txt", "content": "x\n"}
            preview = await host.preview_save("file@1.0", given)
            saved = await host.save("file@1.0", given)
            assert preview.properties == saved.properties
            assert (await host.get("file@1.0", {"path": "d/f.txt"})).properties == saved.properties
            await host.delete("file@1.0", {"path": "d/f.txt"})
            with pytest.raises(NotFound):
                await host.get("file@1.0", {"path": "d/f.txt"})


async def test_a_preview_tells_which_folders_are_missing_and_a_repeated_one_no_longer(root: Path) -> None:
    async with connect(provider, config={"root": str(root)}) as host:
        with anyio.fail_after(10):
            given = {"path": "a/b/f.txt", "content": "x"}
            await host.preview_save("file@1.0", given)
            await host.save("file@1.0", given)
            count = len(host.logs)
            await host.preview_save("file@1.0", given)
            assert [line["message"] for line in host.logs] == ["missing folders that a save will make: a, a/b"]
            assert count == len(host.logs)


async def test_unknown_content_stays_unknown(root: Path) -> None:
    async with connect(provider, config={"root": str(root)}) as host:
        with anyio.fail_after(10):
            given = {"path": "f", "content": Unknown("[reference('a').b]")}
            properties = (await host.preview_save("file@1.0", given)).properties
    assert properties is not None
    assert properties["content"].expression == "[reference('a').b]"
    assert {type(properties[name]) for name in ("content", "sha256", "size")} == {Unknown}


async def test_the_types_are_what_the_template_compiler_gets(root: Path) -> None:
    async with connect(provider, config={"root": str(root)}) as host:
        with anyio.fail_after(10):
            types = await host.types()
    assert sorted(types.resources) == ["directory@1.0", "file@1.0"]
    assert types.config_type is not None
