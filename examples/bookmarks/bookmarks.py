"""Bookmarks in a JSON file: every kind of property, a configuration, errors, and a preview of its own."""

import json
import re
from pathlib import Path
from threading import Lock

from pydantic import BaseModel, Field

from extensor import (
    Context,
    Identifier,
    Immutable,
    InvalidProperty,
    Preview,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    Secret,
    WriteOnly,
    is_unknown,
    run,
)


class Config(BaseModel):
    """The configuration block of the extension."""

    file: str = Field(description="the JSON file that holds the bookmarks")


class Bookmark(Properties):
    """A named place on the web."""

    name: Identifier[str] = Field(min_length=1, description="what it is called")
    url: str
    owner: Immutable[str] = "nobody"
    tags: list[str] = Field(default_factory=list)
    pin: Secret[WriteOnly[str | None]] = None
    host: ReadOnly[str | None] = None


provider = Provider("bookmarks", "1.0.0", config=Config)


@provider.resource("bookmark@1.0")
class BookmarkHandler(ResourceHandler[Bookmark, Config]):
    """Plain functions, which run in worker threads: different bookmarks at once, so the file has a lock."""

    def __init__(self) -> None:
        self._lock = Lock()

    def save(self, ctx: Context[Config], desired: Bookmark) -> Bookmark:
        host = host_of(desired.url)
        with self._lock:
            stored = read(ctx.config)
            bookmark = merged(desired, stored)
            bookmark.host = host
            write(ctx.config, {**stored, bookmark.name: bookmark})
        return bookmark

    def preview_save(self, ctx: Context[Config], desired: Bookmark) -> Preview[Bookmark]:
        bookmark = merged(desired, read(ctx.config))
        if is_unknown(bookmark.url):  # it comes from a resource that is not deployed yet
            bookmark.host = None
            return Preview(properties=bookmark, unknown=("host",))
        bookmark.host = host_of(bookmark.url)
        return Preview(properties=bookmark)

    def get(self, ctx: Context[Config], wanted: Bookmark) -> Bookmark | None:
        return read(ctx.config).get(wanted.name)

    def delete(self, ctx: Context[Config], wanted: Bookmark) -> None:
        with self._lock:
            stored = read(ctx.config)
            if stored.pop(wanted.name, None) is not None:
                write(ctx.config, stored)


def merged(desired: Bookmark, stored: dict[str, Bookmark]) -> Bookmark:
    """What is stored with what was given put over it: a property that is absent stays as it is."""
    current = stored.get(desired.name)
    return desired.over(current) if current else desired


def host_of(url: str) -> str:
    match = re.match(r"https?://([^/]+)", url)
    if match is None:
        raise InvalidProperty("url", "expected an address such as https://example.org/")
    return match[1]


def read(config: Config) -> dict[str, Bookmark]:
    file = Path(config.file)
    text = file.read_text("utf-8") if file.exists() else "{}"
    return {name: Bookmark(**fields) for name, fields in json.loads(text).items()}


def write(config: Config, bookmarks: dict[str, Bookmark]) -> None:
    fields = {name: one.model_dump(exclude={"pin"}, exclude_none=True) for name, one in bookmarks.items()}
    beside = Path(f"{config.file}.new")
    beside.write_text(json.dumps(fields, indent=2), "utf-8")
    beside.replace(config.file)  # in one step: who reads meanwhile, or after a crash, finds the old or the new


if __name__ == "__main__":
    run(provider)
