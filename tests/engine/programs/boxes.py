"""A provider for tests: each box is a file in the folder `root`, so that a test sees what exists.

Every call is noted as a line in ``<root>/calls.log``. The environment makes it misbehave: see `_trouble`.
"""

import json
import os
import signal
from pathlib import Path
from urllib.parse import quote

import anyio

from extensor import Context, Identifier, NotFound, Properties, Provider, ReadOnly, ResourceHandler, Secret


class Config(Properties):
    root: str
    key: Secret[str | None] = None


class Box(Properties):
    name: Identifier[str]
    text: str = ""
    secret: Secret[str | None] = None
    size: ReadOnly[int | None] = None


provider = Provider("boxes", "1.2.0", config=Config)


@provider.resource("box@1.0")
class Boxes(ResourceHandler[Box, Config]):
    async def save(self, ctx: Context, desired: Box) -> Box:
        root = Path(ctx.config.root)
        _note(root, "save", desired.name)
        await _trouble(root, desired.name, before=True)
        body = {"text": desired.text, "secret": desired.secret}
        _file(root, desired.name).write_text(json.dumps(body))
        await _trouble(root, desired.name, before=False)
        return _shown(desired.name, body)

    async def get(self, ctx: Context, wanted: Box) -> Box | None:
        root = Path(ctx.config.root)
        _note(root, "get", wanted.name)
        file = _file(root, wanted.name)
        return _shown(wanted.name, json.loads(file.read_text())) if file.exists() else None

    async def delete(self, ctx: Context, wanted: Box) -> None:
        root = Path(ctx.config.root)
        _note(root, "delete", wanted.name)
        try:
            _file(root, wanted.name).unlink()
        except FileNotFoundError:
            raise NotFound(f"there is no box {wanted.name}") from None


def _shown(name: str, body: dict) -> Box:
    return Box(name=name, text=body["text"], secret=body["secret"], size=len(body["text"]))


def _file(root: Path, name: str) -> Path:
    return root / f"{quote(name, safe='')}.box"


def _note(root: Path, verb: str, name: str) -> None:
    with (root / "calls.log").open("a") as log:
        log.write(f"{verb} {name}\n")


async def _trouble(root: Path, name: str, *, before: bool) -> None:
    """``die-before-NAME`` or ``die-after-NAME`` in the root: kill this process around the write, once.

    ``hold-NAME``: never answer.
    """
    trap = root / f"die-{'before' if before else 'after'}-{name}"
    if trap.exists():
        trap.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if before and (root / f"hold-{name}").exists():
        await anyio.sleep_forever()


if __name__ == "__main__":
    provider.run()
