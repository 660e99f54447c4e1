"""The `files` provider: `file@1.0` and `directory@1.0` below one root.

What it promises: no path leaves the root and symbolic links are refused, by a preview just as by a save; a file is
replaced in one step and is durable when the answer comes; what is as asked for already is not touched at all; a preview
changes nothing, not even a time stamp.
"""

import hashlib
import os

from extensor import (
    Context,
    Preview,
    PreviewNotSupported,
    Provider,
    ResourceHandler,
    SaveContext,
    is_unknown,
)
from extensor_providers.files.models import (
    Config,
    Directory,
    File,
    content_of,
    directory_keeping_mode,
    directory_mode,
    file_keeping_mode,
    file_mode,
    mode_text,
    shown,
    shown_file,
    unknown_file,
)
from extensor_providers.files.paths import parse_path
from extensor_providers.files.tree import Tree
from extensor_providers.files.trouble import all_of
from extensor_providers.files.writing import Sweeper


def config_id(config: Config) -> str:
    """Names a root as the configuration does, so that a template may move together with its root."""
    return hashlib.sha256(os.path.normpath(config.root).encode(errors="surrogatepass")).hexdigest()[:32]


provider = Provider("files", "1.0.0", config=Config, config_id=config_id)


@provider.resource("file@1.0")
class FileHandler(ResourceHandler[File, Config]):
    """Regular files. The functions are plain ones: they block on the disk and run in worker threads."""

    def __init__(self) -> None:
        self._sweeper = Sweeper()

    def save(self, ctx: SaveContext[Config], desired: File) -> File:
        """Writes the file, unless it is so already."""
        names, content, _ = all_of(
            lambda: parse_path(desired.path), lambda: content_of(desired), lambda: file_mode(desired.mode)
        )
        assert content is not None
        tree = self._tree(ctx)
        desired = file_keeping_mode(desired, None if "mode" in desired.model_fields_set else tree.mode_of_file(names))
        tree.write_file(names, content, int(desired.mode, 8))
        return shown_file(desired.path, content, desired.mode)

    def preview_save(self, ctx: Context[Config], desired: File) -> Preview[File]:
        """Reads what is there, and says what `save` would answer or how it would fail."""
        _require_place(ctx, desired.path)
        names, content, _ = all_of(
            lambda: parse_path(desired.path),
            lambda: content_of(desired),
            lambda: None if is_unknown(desired.mode) else file_mode(desired.mode),
        )
        tree = self._tree(ctx)
        desired = file_keeping_mode(desired, None if "mode" in desired.model_fields_set else tree.mode_of_file(names))
        tree.check_file(names, content, _bits(desired.mode))
        _tell_folders(ctx, tree.missing_folders(names))
        return Preview(
            properties=unknown_file(desired) if content is None else shown_file(desired.path, content, desired.mode)
        )

    def get(self, ctx: Context[Config], wanted: File) -> File | None:
        """The file with its content up to 1 MiB; above that its digest and size speak for it."""
        seen = self._tree(ctx).read_file(parse_path(wanted.path))
        if seen is None:
            return None
        return File(
            path=wanted.path, mode=mode_text(seen.mode), sha256=seen.sha256, size=seen.size, **shown(seen.content)
        )

    def delete(self, ctx: SaveContext[Config], wanted: File) -> None:
        """Removes the file, whatever is in it by now. The folders that a save made for it stay."""
        self._tree(ctx).remove_file(parse_path(wanted.path))

    def _tree(self, ctx: Context[Config]) -> Tree:
        return Tree(ctx.config.root, self._sweeper)


@provider.resource("directory@1.0")
class DirectoryHandler(ResourceHandler[Directory, Config]):
    """Directories. A resource owns the directory and not what others put into it, so nothing is removed recursively."""

    def __init__(self) -> None:
        self._sweeper = Sweeper()

    def save(self, ctx: SaveContext[Config], desired: Directory) -> Directory:
        """Makes the directory, or brings it to the mode."""
        names, _ = all_of(lambda: parse_path(desired.path), lambda: directory_mode(desired.mode))
        tree = self._tree(ctx)
        desired = directory_keeping_mode(
            desired, None if "mode" in desired.model_fields_set else tree.read_directory(names)
        )
        tree.write_directory(names, int(desired.mode, 8))
        return desired

    def preview_save(self, ctx: Context[Config], desired: Directory) -> Preview[Directory]:
        """Reads what is there, and says what `save` would answer or how it would fail."""
        _require_place(ctx, desired.path)
        names, _ = all_of(
            lambda: parse_path(desired.path),
            lambda: None if is_unknown(desired.mode) else directory_mode(desired.mode),
        )
        tree = self._tree(ctx)
        desired = directory_keeping_mode(
            desired, None if "mode" in desired.model_fields_set else tree.read_directory(names)
        )
        tree.check_directory(names, _bits(desired.mode))
        _tell_folders(ctx, tree.missing_folders(names))
        return Preview(properties=desired)

    def get(self, ctx: Context[Config], wanted: Directory) -> Directory | None:
        """The directory and its mode."""
        mode = self._tree(ctx).read_directory(parse_path(wanted.path))
        return None if mode is None else Directory(path=wanted.path, mode=mode_text(mode))

    def delete(self, ctx: SaveContext[Config], wanted: Directory) -> None:
        """Removes the directory when it is empty.

        One that holds something is a `Conflict` which names it; a transient one while things in it come and go.
        """
        self._tree(ctx).remove_directory(parse_path(wanted.path))

    def _tree(self, ctx: Context[Config]) -> Tree:
        return Tree(ctx.config.root, self._sweeper)


def _bits(mode: str) -> int | None:
    """The mode bits, ``None`` while they are not known."""
    return None if is_unknown(mode) else int(mode, 8)


def _require_place(ctx: Context[Config], path: str) -> None:
    if is_unknown(ctx.config.root):
        raise PreviewNotSupported("the root is not known until the deployment runs", path="$.import.config.root")
    if is_unknown(path):
        raise PreviewNotSupported("the path is not known until the deployment runs", path="$.properties.path")


def _tell_folders(ctx: Context[Config], missing: list[str]) -> None:
    if missing:
        ctx.log("info", f"missing folders that a save will make: {', '.join(missing)}")
