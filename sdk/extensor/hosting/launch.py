"""From a provider's name, path or command line to what is started."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from extensor.errors import ProviderNotFound

GROUP = "extensor.providers"
"""The entry point group in which an installed distribution names its providers, each as ``module:attribute``."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """How a provider's process is started."""

    name: str
    """What people call it; used in messages."""
    argv: tuple[str, ...]
    """Program and arguments; never goes through a shell."""
    cwd: Path | None = None
    """Working directory; this process's own when ``None``."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the allowed part of this process's environment, see `extensor.hosting.environment`."""


def find(name: str, *, command: str | Sequence[str] | None = None, cwd: Path | None = None) -> LaunchSpec:
    """How to start the provider `name`.

    `command` is the path of an executable, a command line (split as a POSIX shell would, but not run by one) or its
    parts; relative paths start at `cwd`. Without it, `name` is looked for among the installed entry points of the group
    ``extensor.providers``, without case; a name with a ``/`` in it is a path. Nothing is imported or started.

    Raises `ProviderNotFound`, which says what was looked for and what is installed.
    """
    if command is not None:
        return LaunchSpec(name, _resolved(name, _parts(name, command, cwd), cwd), cwd)
    if os.sep in name:
        return LaunchSpec(Path(name).name, _resolved(name, (name,), cwd), cwd)
    return LaunchSpec(name, _installed_command(name), cwd)


def installed() -> dict[str, tuple[str, ...]]:
    """Name to distinct ``module:attribute`` values of all installed providers, names as spelled there."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[str, ...]] = {}
    for point in entry_points(group=GROUP):
        value = f"{point.module}:{point.attr}" if point.attr else point.module
        known = found.get(point.name, ())
        if value not in known:
            found[point.name] = (*known, value)
    return dict(sorted(found.items()))


def _installed_command(name: str) -> tuple[str, ...]:
    known = installed()
    values = sorted({value for own, values in known.items() if own.lower() == name.lower() for value in values})
    if not values:
        raise ProviderNotFound(
            f"no provider named {name!r} is installed: looked for it in the entry point group "
            f"{GROUP!r} of {sys.prefix}, which holds {', '.join(known) or 'none'}; install the package "
            "that provides it, or give the command that starts it"
        )
    if len(values) > 1:
        raise ProviderNotFound(
            f"several installed packages provide {name!r}: {', '.join(values)}; uninstall all but one, "
            "or give the command that starts the one you mean"
        )
    # -P keeps the working directory, often a folder of templates, from being imported from.
    return (sys.executable, "-P", "-m", "extensor.authoring", values[0])


def _parts(name: str, command: str | Sequence[str], cwd: Path | None) -> tuple[str, ...]:
    if not isinstance(command, str):
        parts = tuple(command)
    elif os.sep in command and _is_file(_at(command, cwd)):
        parts = (command,)
    else:
        try:
            parts = tuple(shlex.split(command))
        except ValueError as error:
            raise ProviderNotFound(f"the command of provider {name!r} cannot be read: {error}: {command}") from error
    if not parts:
        raise ProviderNotFound(f"the command of provider {name!r} is empty; give a path or a command line")
    return parts


def _resolved(name: str, parts: tuple[str, ...], cwd: Path | None) -> tuple[str, ...]:
    program, *arguments = parts
    place = _at(program, cwd)
    if os.sep not in program:
        found = shutil.which(program)
        if found is not None:
            return (found, *arguments)
        if not _is_file(place):
            raise ProviderNotFound(
                f"the command of provider {name!r} starts with {program!r}, which is neither a program on PATH "
                f"({_path_in_short()}) nor a file in {place.parent}"
            )
    if not place.exists():
        raise ProviderNotFound(f"provider {name!r} should be at {place}, and there is no such file")
    if place.is_dir():
        raise ProviderNotFound(
            f"provider {name!r} should be at {place}, which is a directory; name the executable in it"
        )
    if not os.access(place, os.X_OK):
        raise ProviderNotFound(
            f"provider {name!r} is at {place}, which is not executable; make it so with chmod +x, "
            "or give a command line that names its interpreter"
        )
    return (str(place), *arguments)


def _path_in_short() -> str:
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    if len(folders) <= 2:
        return os.pathsep.join(folders) or "which is empty"
    return f"{folders[0]} and {len(folders) - 1} more folders"


def _at(path: str, cwd: Path | None) -> Path:
    home = Path(path).expanduser() if path.startswith("~/") else Path(path)
    return (cwd or Path.cwd()).absolute() / home


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:  # a command line can be longer than a file's name may be
        return False
