"""A quick yes about a body: code made from the type, for types that are asked about often.

`extensor.types.checks` has the rules and the words. This only knows bodies that surely keep them all: no faults, no
null, nothing unknown outside of what may hold anything. A test holds that both agree.
"""

from collections.abc import Callable
from typing import Any

from extensor.contract.json import Json
from extensor.types import model
from extensor.types.checks import check_of
from extensor.types.findings import Mode, without_unknowns
from extensor.types.leaves import readable_pattern

Fits = Callable[[Json], bool]

DEEPEST_LOOP = 8
"""Of arrays in arrays below this nothing is sure: Python nests no more than 20 blocks, and a type may hold itself."""

_ABSENT = object()
_SIMPLE = frozenset((str, int, float, bool))


def fits_of(type_: model.Body, mode: Mode) -> Fits:
    """Says of a value whether it surely fits; ``False`` means that `check_of` has to be asked."""
    key = f"fits {mode.given:d}{mode.unknown:d}"
    made: Fits | None = type_.facts.get(key)
    if made is None:
        plain = isinstance(type_, model.ObjectType)
        made = type_.facts[key] = _Writer(mode).function(type_) if plain else _discriminated(type_, mode)
    return made


def _discriminated(type_: model.DiscriminatedObjectType, mode: Mode) -> Fits:
    def fits(value: Json) -> bool:
        told = value.get(type_.discriminator) if type(value) is dict else None
        variant = type_.variants.get(told) if type(told) is str else None
        return variant is not None and fits_of(variant, mode)(value)

    return fits


class _Writer:
    """Writes one function. What it refers to goes into its globals under made-up names; no text of a type is code."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._names: dict[str, Any] = {
            "absent": _ABSENT,
            "simple": _SIMPLE,
            "without_unknowns": without_unknowns,
        }
        self._lines: list[str] = []

    def function(self, type_: model.ObjectType) -> Fits:
        self._object(type_)
        source = "\n".join(("def fits(value):", "    if type(value) is not dict: return False", *self._lines))
        exec(compile(source, f"<fits {type_.name!a}>", "exec"), self._names)  # noqa: S102 - see the class
        fits: Fits = self._names["fits"]
        return fits

    def _name(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self._names)}"
        self._names[name] = value
        return name

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _object(self, type_: model.ObjectType) -> None:
        mode, extra = self._mode, type_.additional_properties
        allowed = {
            name: item
            for name, item in type_.properties.items()
            if not (item.read_only if mode.given else item.write_only)
        }
        required = [name for name, item in allowed.items() if item.required]
        self._line(1, f"known = {len(required)}")
        for name, item in allowed.items():
            if item.required:
                self._line(1, f"item = value.get({name!r})")
                self._test(1, "item", item.type)
            else:
                self._line(1, f"item = value.get({name!r}, absent)")
                self._line(1, "if item is not absent:")
                self._line(2, "known += 1")
                self._test(2, "item", item.type)
        if extra is None:
            self._line(1, "return known == len(value)")
            return
        self._line(1, "if known != len(value):")
        if type_.properties:
            names = self._name("names", frozenset(type_.properties))
            refused = self._name("refused", frozenset(type_.properties) - set(allowed))
            self._line(2, "for name, item in value.items():")
            self._line(3, f"if name in {refused}: return False")
            self._line(3, f"if name not in {names}:")
            self._test(4, "item", extra)
        else:
            self._line(2, "for item in value.values():")
            self._test(3, "item", extra)
        self._line(1, "return True")

    def _test(self, depth: int, item: str, type_: model.Type) -> None:
        """Lines that return ``False`` when the variable `item` does not surely fit."""
        conditions = self._conditions(item, type_)
        if conditions:
            self._line(depth, f"if {' or '.join(conditions)}: return False")
        else:
            self._line(depth, "pass")
        if isinstance(type_, model.ArrayType):
            if depth > DEEPEST_LOOP:
                self._line(depth, f"if {item}: return False")
                return
            inner = f"{item}_"
            self._line(depth, f"for {inner} in {item}:")
            self._test(depth + 1, inner, type_.item_type)

    def _conditions(self, item: str, type_: model.Type) -> list[str]:
        match type_:
            case model.StringType():
                return [f"type({item}) is not str", *self._size(item, type_), *self._pattern(item, type_)]
            case model.IntegerType():
                return [f"type({item}) is not int", *self._bounds(item, type_.min_value, type_.max_value)]
            case model.NumberType(above=None, below=None):
                kinds = self._name("kinds", (int, float))
                return [f"type({item}) not in {kinds}", *self._bounds(item, type_.min_value, type_.max_value)]
            case model.BooleanType():
                return [f"type({item}) is not bool"]
            case model.StringLiteralType():
                return [f"type({item}) is not str", f"{item} != {type_.value!r}"]
            case model.ArrayType():
                return [f"type({item}) is not list", *self._size(item, type_)]
            case model.ObjectType() | model.DiscriminatedObjectType():
                return [f"not {self._later(type_)}({item})"]
            case model.AnyType() if self._mode.unknown:
                return [f"{item} is None"]
            case model.AnyType():
                return [f"type({item}) not in simple and ({item} is None or without_unknowns({item}) is not None)"]
            case _:
                check = self._name("check", check_of(type_, self._mode))
                return [f"type({item}) not in simple", f"{check}({item}) is not None"]

    def _later(self, type_: model.Body) -> str:
        """The name of another type's function, which is made when a value first reaches it: types may be cyclic."""
        names, mode = self._names, self._mode

        def first(value: Json, /) -> bool:
            names[name] = fits_of(type_, mode)
            return names[name](value)

        name = self._name("fits_", first)
        return name

    def _size(self, item: str, type_: model.StringType | model.ArrayType) -> list[str]:
        return self._bounds(f"len({item})", type_.min_length, type_.max_length)

    def _bounds(self, value: str, least: float | None, most: float | None) -> list[str]:
        found: list[str] = []
        if least is not None:
            found.append(f"{value} < {self._name('least', least)}")
        if most is not None:
            found.append(f"{value} > {self._name('most', most)}")
        return found

    def _pattern(self, item: str, type_: model.StringType) -> list[str]:
        pattern = readable_pattern(type_.pattern)
        return [] if pattern is None else [f"{self._name('search', pattern.search)}({item}) is None"]
