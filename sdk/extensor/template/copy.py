"""Copy loops inside values: properties, variables and outputs. The loops of resources are the engine's to run."""

from typing import TYPE_CHECKING

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.limits import MAX_COPIES
from extensor.template.model import CopyDecl
from extensor.template.refusal import Refusal
from extensor.template.values import kind_of

if TYPE_CHECKING:
    from extensor.template.evaluator import Frame
    from extensor.template.scope import Scope


def checked_count(value: Json, path: Path) -> int | Unknown:
    """An evaluated `count`, if it is one. Raises `TemplateError`."""
    if isinstance(value, Unknown):
        return value
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and 0 <= value <= MAX_COPIES:
        return value
    raise TemplateError(
        f"a loop's count must be an integer from 0 to {MAX_COPIES}, not {value if whole else kind_of(value)}",
        format_path(path),
    )


def repeat(scope: "Scope", loop: CopyDecl, body: Json, path: Path, frame: "Frame", *, nearest_loop: bool) -> Json:
    """The array of a loop's iterations; an `Unknown` if the count is not known. Raises `TemplateError`."""
    place: Path = (*path, "count")
    count = checked_count(scope.walk(loop.count, place, frame), place)
    if isinstance(count, Unknown):
        return Unknown(None, format_path(path))
    inside: Path = (*path, "input")
    found: list[Json] = []
    for at in range(count):
        found.append(scope.walk(body, inside, frame.in_loop(loop.name, at, nearest_loop=nearest_loop)))
        try:
            scope.count_work(found[-1])
        except Refusal as refusal:
            raise TemplateError(str(refusal), format_path(path)) from None
    return found


def expand(scope: "Scope", loops: Json, into: JsonObject, path: Path, frame: "Frame") -> None:
    """Run the property loops in an object's `copy` member, a property each. Raises `TemplateError`."""
    for at, loop in enumerate(loops):
        place: Path = (*path, at)
        if not isinstance(loop, dict) or not {"name", "count", "input"} <= loop.keys():
            raise TemplateError("a property loop has 'name', 'count' and 'input'", format_path(place))
        name = loop["name"]
        if not isinstance(name, str) or not name:
            raise TemplateError("a property loop is named by a literal string", format_path((*place, "name")))
        if name in into:
            raise TemplateError(f"there is another property '{name}'", format_path((*place, "name")))
        into[name] = repeat(scope, CopyDecl(name, loop["count"]), loop["input"], place, frame, nearest_loop=False)
