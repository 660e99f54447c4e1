"""Copy loops inside values: properties, variables and outputs. The loops of resources are the engine's to run."""

from typing import TYPE_CHECKING

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.limits import MAX_COPIES
from extensor.template.values import kind_of

if TYPE_CHECKING:
    from extensor.template.evaluator import Frame
    from extensor.template.scope import Scope


def repeat(
    scope: "Scope", name: str, count: Json, body: Json, path: Path, frame: "Frame", *, nearest_loop: bool
) -> Json:
    """The array of a loop's iterations; an `Unknown` if the count is not known. Raises `TemplateError`."""
    place: Path = (*path, "count")
    times = scope.walk(count, place, frame)
    if isinstance(times, Unknown):
        return Unknown(None, format_path(path))
    if isinstance(times, bool) or not isinstance(times, int) or not 0 <= times <= MAX_COPIES:
        shown = times if isinstance(times, int) and not isinstance(times, bool) else kind_of(times)
        raise TemplateError(
            f"a loop's count must be an integer from 0 to {MAX_COPIES}, not {shown}", format_path(place)
        )
    inside: Path = (*path, "input")
    return [scope.walk(body, inside, frame.in_loop(name, index, nearest_loop=nearest_loop)) for index in range(times)]


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
        into[name] = repeat(scope, name, loop["count"], loop["input"], place, frame, nearest_loop=False)
