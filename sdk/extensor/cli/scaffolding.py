"""A provider project, written from the files in `extensor/cli/scaffold`, itself a project, under new names."""

import json
import keyword
import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import unquote, urlsplit

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_SAMPLE = re.compile(r"\bsample([-_]provider)?\b")
_RENAMED = {"gitignore": ".gitignore"}
LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class ProjectNames:
    """The three spellings that a project needs."""

    distribution: str
    """``demo-provider``; what pip installs."""
    package: str
    """``demo_provider``; what Python imports."""
    provider: str
    """``demo``; what templates import."""

    @classmethod
    def of(cls, name: str) -> "ProjectNames":
        """The spellings for a project's name. Raises `ValueError` with the rule that it breaks."""
        if not _NAME.match(name) or len(name) > LONGEST_NAME:
            raise ValueError(
                f"a project's name is small letters and digits, parted by single dashes, at most {LONGEST_NAME} "
                f"characters; this is {name!r}"
            )
        package = name.replace("-", "_")
        if keyword.iskeyword(package) or package in sys.stdlib_module_names or package in ("extensor", "tests"):
            raise ValueError(f"a package {package} would hide Python's own, or extensor's; try {name}-provider")
        dashed = name.replace("_", "-")
        return cls(dashed, package, dashed.removesuffix("-provider"))


def project_files(names: ProjectNames, requirement: str) -> dict[str, str]:
    """Path to text of every file of a new project; `requirement` is where its Makefile gets extensor from."""
    texts = dict(_read(files("extensor.cli") / "scaffold", ""))
    make = requirement.replace("$", "$$").replace("#", "\\#")
    renamed = {_rename(path, names): _rename(text, names) for path, text in texts.items()}
    return {
        path: text.replace("@EXTENSOR@", make) if path == "Makefile" else text for path, text in sorted(renamed.items())
    }


def own_requirement() -> str:
    """What pip is told to install the extensor that runs here: the folder it was installed from, else its version."""
    try:
        own = distribution("extensor")
        origin = json.loads(own.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "extensor"
    url = urlsplit(str(origin.get("url", "")))
    folder = Path(unquote(url.path))
    if url.scheme == "file" and "dir_info" in origin and folder.is_dir():
        return str(folder)
    return f"extensor=={own.version}"


def _read(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for item in folder.iterdir():
        if item.name.startswith((".", "__pycache__")):  # caches of tools that looked at the scaffold
            continue
        if item.is_dir():
            found += _read(item, f"{prefix}{item.name}/")
        else:
            found.append((prefix + _RENAMED.get(item.name, item.name), item.read_text(encoding="utf-8")))
    return found


def _rename(text: str, names: ProjectNames) -> str:
    spelled = {"-provider": names.distribution, "_provider": names.package, None: names.provider}
    return _SAMPLE.sub(lambda match: spelled[match[1]], text)
