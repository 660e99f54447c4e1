"""SCH-01: the types can be read and are the same each time. SCH-09: they still take what an older release took."""

from collections.abc import Iterator

from extensor.contract.paths import Path, format_path
from extensor.errors import OperationFailed, TypesError
from extensor.types import model
from extensor.types.index import TypeIndex
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.verdicts import NotTested, Problem

_HASH_SEEDS = ("1", "2")
"""Python's order of sets depends on it; other languages ignore the variable."""


@check("SCH-01", features={Feature.TYPES})
class SoundTypes(Procedure):
    """Two calls and two processes give the same bytes, in which every reference resolves."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        connection = bench.fresh(env={"PYTHONHASHSEED": _HASH_SEEDS[0]})
        first, again = connection.type_files(), connection.type_files()
        other = bench.fresh(env={"PYTHONHASHSEED": _HASH_SEEDS[1]}).type_files()
        if first.error is not None:
            return [Problem(f"the types cannot be asked for: {first.error}", "$", "getTypeFiles")]
        problems = list(_broken(first))
        for step, answer in (("second call", again), ("second process", other)):
            where = _difference(first, answer)
            if where is not None:
                problems.append(Problem(f"a {step} gives other types than the first", where, step))
        listed = connection.list_types()
        if listed.error is not None:
            problems.append(Problem(f"the types cannot be listed: {listed.error}", "$", "listTypes"))
        elif listed.result != connection.list_types().result:
            problems.append(Problem("a second call lists other types than the first", "$.types", "listTypes"))
        return problems


def _broken(answer: Answer) -> Iterator[Problem]:
    result = answer.result if isinstance(answer.result, dict) else {}
    index, files = result.get("indexFile"), result.get("typeFiles")
    if not isinstance(index, str) or not isinstance(files, dict):
        yield Problem("the answer has no indexFile with its typeFiles", "$", "getTypeFiles")
        return
    try:
        TypeIndex.from_files(index, files).check()
    except (TypesError, OperationFailed, ValueError, LookupError, TypeError, AttributeError) as error:
        yield Problem(f"the types cannot be read: {error}", "$.typeFiles", "getTypeFiles")


def _difference(one: Answer, other: Answer) -> str | None:
    """Where two answers differ."""
    if one.result == other.result:
        return None
    if not isinstance(one.result, dict) or not isinstance(other.result, dict):
        return "$"
    if one.result.get("indexFile") != other.result.get("indexFile"):
        return "$.indexFile"
    return "$.typeFiles"


@check("SCH-09", features={Feature.TYPES})
class Compatible(Procedure):
    """Nothing was removed, nothing is newly required, nothing got narrower."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        folder = bench.settings.old_types
        if folder is None:
            raise NotTested("no types of an earlier release were given: --old-types DIR")
        assert bench.provider is not None
        new = bench.provider.index
        if new is None:
            raise NotTested(bench.provider.trouble or "the types cannot be read")
        try:
            old = TypeIndex.read_directory(folder)
            old.check()
        except TypesError as error:
            raise NotTested(f"the types of the earlier release cannot be read: {error}") from None
        if _major(old) != _major(new):
            return []
        names = {name.lower(): name for name in new.resources}
        problems: list[Problem] = []
        for name in old.resources:
            found = names.get(name.lower())
            if found is None:
                problems.append(Problem(f"the type {name} is gone", f"$.resources['{name}']", "compare"))
            else:
                problems += _Comparison(name).bodies(old.resources[name].body, new.resources[found].body)
        return problems


def _major(index: TypeIndex) -> str:
    return index.settings.version.partition(".")[0] if index.settings else ""


class _Comparison:
    """Of one type in two releases."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[tuple[int, int]] = set()

    def bodies(self, old: model.Type, new: model.Type) -> Iterator[Problem]:
        """What the new type no longer takes or shows."""
        yield from self._types(old, new, ("properties",))

    def _problem(self, message: str, path: Path) -> Problem:
        return Problem(f"{self._name}: {message}", format_path(path), "compare")

    def _types(self, old: model.Type, new: model.Type, path: Path) -> Iterator[Problem]:
        if (id(old), id(new)) in self._seen or isinstance(new, model.AnyType):
            return
        self._seen.add((id(old), id(new)))
        match old, new:
            case model.ObjectType(), model.ObjectType():
                yield from self._objects(old, new, path)
            case model.DiscriminatedObjectType(), model.DiscriminatedObjectType():
                yield from self._variants(old, new, path)
            case model.ArrayType(), model.ArrayType():
                yield from self._bounds(
                    (old.min_length, old.max_length), (new.min_length, new.max_length), "length", path
                )
                yield from self._types(old.item_type, new.item_type, (*path, 0))
            case model.StringType(), model.StringType():
                yield from self._bounds(
                    (old.min_length, old.max_length), (new.min_length, new.max_length), "length", path
                )
                if new.pattern is not None and new.pattern != old.pattern:
                    yield self._problem("the pattern is new or another", path)
            case model.IntegerType(), model.IntegerType():
                yield from self._bounds((old.min_value, old.max_value), (new.min_value, new.max_value), "value", path)
            case _:
                yield from self._literals(old, new, path)

    def _literals(self, old: model.Type, new: model.Type, path: Path) -> Iterator[Problem]:
        before, after = _words(old), _words(new)
        if after is not None:
            if before is None:
                yield self._problem("a list of values stands where any was taken", path)
            else:
                for word in sorted(before - after):
                    yield self._problem(f"the value {word!r} is no longer taken", path)
        elif type(old) is not type(new) and not (before is not None and isinstance(new, model.StringType)):
            yield self._problem(f"a {type(old).__name__} became a {type(new).__name__}", path)

    def _objects(self, old: model.ObjectType, new: model.ObjectType, path: Path) -> Iterator[Problem]:
        for name, item in old.properties.items():
            place, found = (*path, name), new.properties.get(name)
            if found is None:
                if new.additional_properties is None or item.read_only:
                    yield self._problem("the property is gone", place)
                continue
            if found.required and not item.required and not found.read_only:
                yield self._problem("the property is now required", place)
            if found.read_only and not item.read_only:
                yield self._problem("the property can no longer be given", place)
            if found.write_only and not item.write_only:
                yield self._problem("the property is no longer shown", place)
            yield from self._types(item.type, found.type, place)
        for name, item in new.properties.items():
            if name not in old.properties and item.required and not item.read_only:
                yield self._problem("a new property is required", (*path, name))
        if old.additional_properties is not None and new.additional_properties is None:
            yield self._problem("other properties are no longer taken", path)
        elif old.additional_properties is not None and new.additional_properties is not None:
            yield from self._types(old.additional_properties, new.additional_properties, (*path, "*"))

    def _variants(
        self, old: model.DiscriminatedObjectType, new: model.DiscriminatedObjectType, path: Path
    ) -> Iterator[Problem]:
        if old.discriminator != new.discriminator:
            yield self._problem(f"{new.discriminator} tells variants apart, not {old.discriminator}", path)
            return
        for value, variant in old.variants.items():
            found = new.variants.get(value)
            if found is None:
                yield self._problem(f"the value {value!r} is no longer taken", (*path, old.discriminator))
            else:
                yield from self._objects(variant, found, path)

    def _bounds(
        self,
        old: tuple[int | None, int | None],
        new: tuple[int | None, int | None],
        what: str,
        path: Path,
    ) -> Iterator[Problem]:
        if new[0] is not None and (old[0] is None or new[0] > old[0]):
            yield self._problem(f"the smallest {what} went from {old[0]} to {new[0]}", path)
        if new[1] is not None and (old[1] is None or new[1] < old[1]):
            yield self._problem(f"the largest {what} went from {old[1]} to {new[1]}", path)


def _words(type_: model.Type) -> frozenset[str] | None:
    """The texts that a type allows, when they are listed."""
    if isinstance(type_, model.StringLiteralType):
        return frozenset({type_.value})
    if isinstance(type_, model.UnionType):
        inner = [_words(element) for element in type_.elements]
        found = [words for words in inner if words is not None]
        return frozenset().union(*found) if len(found) == len(inner) else None
    return None
