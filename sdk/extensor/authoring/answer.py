"""From what a handler returned to a result that keeps the contract."""

from collections.abc import Iterable
from typing import Any

from extensor.authoring.boundary import HandlerBug
from extensor.authoring.dump import dump, dump_with_unknowns
from extensor.authoring.facts import TypeFacts
from extensor.authoring.preview import Preview
from extensor.authoring.unchanging import require_identity_of
from extensor.contract.faults import summary
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.result import PreviewMetadata, ResourceResult
from extensor.contract.unknown import find_unknowns
from extensor.types.validate import Purpose, surely_fits, validate

PROPERTIES: Path = ("properties",)


class Answer:
    """Makes the result of one call. Raises `HandlerBug` for what the type does not allow."""

    def __init__(self, facts: TypeFacts, properties: JsonObject, config_id: str | None) -> None:
        self._facts = facts
        self.properties = properties
        """The request's."""
        self._config_id = config_id

    def deleted(self) -> ResourceResult:
        """The resource is gone, or never was."""
        return ResourceResult(None, self._facts.shape.identifiers_of(self.properties), self._config_id)

    def state(self, returned: Any) -> ResourceResult:
        """The whole resource, as `save` and `get` show it."""
        properties = self._checked(dump(self._model(returned)), "result")
        return ResourceResult(properties, self._facts.shape.identifiers_of(properties), self._config_id)

    def preview(self, returned: Any) -> ResourceResult:
        """The state to come, as a handler told it."""
        told = returned if isinstance(returned, Preview) else Preview(properties=returned)
        return self._preview(dump_with_unknowns(self._model(told.properties)), told)

    def preview_of(self, state: JsonObject) -> ResourceResult:
        """The state to come, as worked out from the type: the flags tell what the lists hold."""
        shape = self._facts.shape
        present = Preview(
            properties=None,
            read_only=_paths(state, shape.read_only),
            immutable=_paths(state, shape.immutable),
            calculated=_paths(state, shape.calculated),
        )
        return self._preview(state, present)

    def _model(self, returned: Any) -> Any:
        expected = self._facts.model
        if isinstance(returned, expected):
            return returned
        raise HandlerBug(f"it returned {type(returned).__name__}, expected {expected.__name__}")

    def _preview(self, state: JsonObject, told: Preview[Any]) -> ResourceResult:
        for path, unknown in find_unknowns(self._facts.shape.without_write_only(self.properties)):
            parent, name = _place(state, path)
            if parent is not None and name not in parent:
                parent[name] = unknown
        properties = self._checked(state, "preview_result")
        identifiers = self._facts.shape.identifiers_of(properties)
        return ResourceResult(properties, identifiers, self._config_id, _metadata(properties, told))

    def _checked(self, properties: JsonObject, purpose: Purpose) -> JsonObject:
        properties = self._facts.shape.without_write_only(properties)
        if not self._same_name(properties):
            self._identify(properties)
        if surely_fits(properties, self._facts.type, purpose=purpose):
            return properties
        faults = validate(properties, self._facts.type, purpose=purpose)
        if faults:
            raise HandlerBug(f"its result does not fit its type: {summary(faults)}")
        return properties

    def _same_name(self, properties: JsonObject) -> bool:
        """Whether the one text that names the resource is there and is the one that was asked for."""
        lone = self._facts.shape.lone_identifier
        if lone is None:
            return False
        asked, answered = self.properties.get(lone), properties.get(lone)
        return type(asked) is str and type(answered) is str and asked == answered

    def _identify(self, properties: JsonObject) -> None:
        """Put in identifiers that the handler left out; raise `HandlerBug` for others than were asked for."""
        for path in self._facts.shape.identifiers:
            parent, name = _place(properties, path)
            if parent is not None and parent.get(name) is None:
                asked, _ = _place(self.properties, path)
                if asked is not None and asked.get(name) is not None:
                    parent[name] = asked[name]
        require_identity_of(self._facts, properties, self.properties)


def _metadata(properties: JsonObject, told: Preview[Any]) -> PreviewMetadata:
    """The four lists, each path in one of them: what cannot be told outweighs what it is."""
    taken: set[str] = set()

    def fresh(paths: Iterable[str]) -> tuple[str, ...]:
        kept = [path for path in dict.fromkeys(paths) if path not in taken]
        taken.update(kept)
        return tuple(kept)

    calculated = fresh(_full(path) for path in told.calculated)
    unknown = fresh(
        [
            *(_full(path) for path in told.unknown),
            *(format_path(path) for path, _ in find_unknowns(properties, PROPERTIES)),
        ]
    )
    read_only = fresh(_full(path) for path in told.read_only)
    immutable = fresh(_full(path) for path in told.immutable)
    return PreviewMetadata(read_only, immutable, calculated, unknown)


def _full(path: str) -> str:
    return path if path.startswith("$") else f"$.properties{'' if path.startswith('[') else '.'}{path}"


def _paths(state: JsonObject, paths: Iterable[Path]) -> tuple[str, ...]:
    places = ((path, *_place(state, path)) for path in paths)
    return tuple(format_path((*PROPERTIES, *path)) for path, parent, name in places if parent and name in parent)


def _place(value: Json, path: Path) -> tuple[JsonObject | None, str]:
    """The object that holds a path's last step, ``None`` when there is none, and that step."""
    name = str(path[-1])
    for step in path[:-1]:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None, name
    return (value if isinstance(value, dict) else None), name
