"""An engine in miniature: it starts the files provider, previews a file, saves it, and deletes it again."""

import tempfile
from pathlib import Path

import anyio

from extensor.contract import Import, ResourceData, Verb
from extensor.hosting import Host, find


async def main(folder: Path) -> None:
    hello = ResourceData(
        Import("files", "1.0.0", {"root": str(folder)}), "file@1.0", {"path": "hello.txt", "content": "hello\n"}
    )
    async with Host() as host:
        files = await host.start(find("files"), want_version="1.0.0")
        preview = await files.call(Verb.PREVIEW_SAVE, hello)
        print("would be", preview.properties)
        saved = await files.perform(Verb.SAVE, hello, budget=60)  # tries again where the contract allows it
        print("is      ", saved.properties)
        await files.perform(Verb.DELETE, hello, budget=60)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        anyio.run(main, Path(place))
