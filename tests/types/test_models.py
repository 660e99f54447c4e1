"""pydantic models as types."""

import datetime
import decimal
import enum
import os
import re
import uuid
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel, SecretStr, StringConstraints, computed_field, create_model
from typing_extensions import TypeAliasType, TypedDict

from extensor.contract import Unknown
from extensor.errors import TypesError
from extensor.types import (
    AnyType,
    ArrayType,
    BooleanType,
    Calculated,
    DiscriminatedObjectType,
    Flag,
    Identifier,
    Immutable,
    IntegerType,
    NullType,
    NumberType,
    ObjectType,
    Property,
    ReadOnly,
    Secret,
    StringLiteralType,
    StringType,
    Type,
    TypeIndex,
    UnionType,
    WriteOnly,
    index_of,
    same_type,
)
from extensor.types.models import _Converter, body_of
from extensor.types.validate import validate

GOLDEN = Path(__file__).parent / "golden/shop"
T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 9


class Size(BaseModel):
    """How large it is.

    In centimetres.
    """

    width: Annotated[int, Field(gt=0, lt=1000)]
    height: int = 1


class Courier(BaseModel):
    kind: Literal["courier"] = "courier"
    company: str


class Pickup(BaseModel):
    kind: Literal["pickup", "locker"]
    at: str = Field(alias="pickupAt")


class Category(BaseModel):
    name: str
    inside: list["Category"] = []


class Item(BaseModel):
    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    sku: Identifier[str] = Field(description="The number on the shelf.", pattern="^[A-Z]+-[0-9]+$")
    title: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    size: Size
    colour: Colour = Colour.RED
    price: Annotated[float, Field(ge=0)] = 1.0
    in_stock: ReadOnly[int | None] = None
    delivery: Annotated[Courier | Pickup, Field(discriminator="kind")]
    category: Category | None = None
    made_in: Immutable[str] = Field("DE", description="Where it was made.")
    seen: Calculated[ReadOnly[datetime.datetime | None]] = None
    key: Secret[WriteOnly[str | None]] = None
    tags: dict[str, str] = {}


class Account(BaseModel):
    """Who sells."""

    user: str
    password: SecretStr


def shop() -> TypeIndex:
    return index_of("shop", "1.4.0", {"item@1.0": Item, "category@1.0": Category}, Account)


def test_a_model_becomes_the_files_that_are_kept_here() -> None:
    index, files = shop().write()
    if os.environ.get("EXTENSOR_WRITE_GOLDEN"):
        for path, text in {"index.json": index, **files}.items():
            (GOLDEN / path).write_text(text)
    assert index == (GOLDEN / "index.json").read_text()
    assert files == {"types.json": (GOLDEN / "types.json").read_text()}


def test_the_kept_files_read_as_the_model_says_but_for_the_bounds_of_numbers() -> None:
    read, made = TypeIndex.read_directory(GOLDEN), shop()
    read.check()
    assert same_type(read.resource("category@1.0"), made.resource("category@1.0"))
    body = read.resource("item@1.0").body
    assert isinstance(body, ObjectType)
    assert isinstance(body.properties["price"].type, NumberType)
    assert body.properties["seen"].calculated
    assert body.properties["made-in"].immutable
    assert body.properties["made-in"].description == "Where it was made."


def only(annotation: Any, default: Any = ..., **more: Any) -> Property:
    model = create_model("M", p=(annotation, Field(default, **more)))
    body = body_of(model)
    assert isinstance(body, ObjectType)
    return body.properties["p"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, StringType()),
        (int, IntegerType()),
        (bool, BooleanType()),
        (float, NumberType()),
        (Any, AnyType()),
        (object, AnyType()),
        (None, NullType()),
        (uuid.UUID, StringType()),
        (datetime.date, StringType()),
        (Path, StringType()),
        (bytes, StringType()),
        (SecretStr, StringType(sensitive=True)),
        (Secret[str], StringType(sensitive=True)),
        (Secret[list[str]], ArrayType(StringType(sensitive=True))),
        (Secret[str | None], UnionType([StringType(sensitive=True), NullType()])),
        (Secret[Literal["x"]], StringLiteralType("x", sensitive=True)),
        (Secret[dict[str, int]], ObjectType("M.p", {}, IntegerType(), sensitive=True)),
        (Literal["a"], StringLiteralType("a")),
        (Literal["a", "b", "a"], UnionType([StringLiteralType("a"), StringLiteralType("b")])),
        (Literal["a", None], UnionType([StringLiteralType("a"), NullType()])),
        (Literal[3, 1], IntegerType(1, 3)),
        (Literal[True, "x"], UnionType([StringLiteralType("x"), BooleanType()])),
        (Colour, UnionType([StringLiteralType("red"), StringLiteralType("blue")])),
        (Level, IntegerType(1, 9)),
        (int | str, UnionType([IntegerType(), StringType()])),
        (int | Any, AnyType()),
        (str | None, UnionType([StringType(), NullType()])),
        (list[int], ArrayType(IntegerType())),
        (list, ArrayType(AnyType())),
        (set[str], ArrayType(StringType())),
        (tuple[int, ...], ArrayType(IntegerType())),
        (tuple[int, str], ArrayType(UnionType([IntegerType(), StringType()]), 2, 2)),
        (dict, ObjectType("M.p", {}, AnyType())),
        (dict[str, int | None], ObjectType("M.p", {}, UnionType([IntegerType(), NullType()]))),
        (Annotated[int, Field(gt=0, le=9)], IntegerType(1, 9)),
        (Annotated[float, Field(gt=0)], NumberType(above=0)),
        (Annotated[str, StringConstraints(pattern="^a", max_length=3)], StringType(max_length=3, pattern="^a")),
        (
            Annotated[list[Annotated[str, Field(min_length=2)]], Field(min_length=1)],
            ArrayType(StringType(min_length=2), 1),
        ),
        (RootModel[list[int]], ArrayType(IntegerType())),
        (NewType("Port", int), IntegerType()),
        (TypeAliasType("Names", list[str]), ArrayType(StringType())),
        (decimal.Decimal, StringType(pattern=None)),
        (TypedDict("TypedDict", {"a": int}), ObjectType("M.p", {}, AnyType())),
    ],
)
def test_python_types_have_their_counterparts(annotation: Any, expected: Type) -> None:
    found = only(annotation)
    assert same_type(found.type, expected)
    assert found.flags == Flag.REQUIRED


@pytest.mark.parametrize(
    ("annotation", "default", "flags"),
    [
        (str, ..., Flag.REQUIRED),
        (str, "x", Flag.NONE),
        (str | None, None, Flag.NONE),
        (Identifier[str], ..., Flag.REQUIRED | Flag.IDENTIFIER),
        (Identifier[str], "x", Flag.IDENTIFIER),
        (ReadOnly[int], ..., Flag.READ_ONLY),
        (ReadOnly[int] | None, None, Flag.READ_ONLY),
        (WriteOnly[str], ..., Flag.REQUIRED | Flag.WRITE_ONLY),
        (Secret[WriteOnly[str]], "", Flag.WRITE_ONLY),
    ],
)
def test_marks_and_defaults_become_flags(annotation: Any, default: Any, flags: Flag) -> None:
    assert only(annotation, default).flags == flags


def test_a_property_that_may_be_left_out_does_not_list_null() -> None:
    assert same_type(only(str | None, None).type, StringType())
    assert same_type(only(Colour | None, None).type, only(Colour).type)


def test_descriptions_come_from_the_field_or_from_the_nested_models_docstring() -> None:
    assert only(Size).description == "How large it is."
    assert only(Size | None, None).description == "How large it is."
    assert only(Size, description="Own words.").description == "Own words."
    assert only(Annotated[str, Field(description="Inner words.")]).description == "Inner words."
    assert only(Courier).description is None


def test_a_field_is_named_as_it_travels() -> None:
    class Aliased(BaseModel):
        one: str = Field(alias="eins")
        two: str = Field(validation_alias="zwei", serialization_alias="zwei")
        three: str

        @computed_field(alias="vier", description="Worked out.")
        def four(self) -> int:
            return 4

    body = body_of(Aliased)
    assert isinstance(body, ObjectType)
    assert list(body.properties) == ["eins", "zwei", "three", "vier"]
    assert body.properties["vier"].flags == Flag.READ_ONLY
    assert body.properties["vier"].description == "Worked out."


def test_a_model_that_holds_itself_becomes_a_cycle() -> None:
    body = body_of(Category)
    assert isinstance(body, ObjectType)
    inside = body.properties["inside"].type
    assert isinstance(inside, ArrayType)
    assert inside.item_type is body


def test_models_with_type_parameters_have_a_type_per_argument() -> None:
    class Box(BaseModel, Generic[T]):
        content: T

    assert same_type(only(Box[int]).type, ObjectType("Box[int]", {"content": Property(IntegerType(), Flag.REQUIRED)}))


def test_a_union_told_apart_by_a_field_has_an_element_for_each_value() -> None:
    found = only(Annotated[Courier | Pickup, Field(discriminator="kind")]).type
    assert isinstance(found, DiscriminatedObjectType)
    assert found.discriminator == "kind"
    assert list(found.elements) == ["courier", "pickup", "locker"]
    assert all(element.properties["kind"].required for element in found.elements.values())


def test_the_place_for_an_unknown_value_is_no_part_of_the_type() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        text: str | Unknown
        both: Secret[str] | Unknown | None = None

    body = body_of(Open)
    assert isinstance(body, ObjectType)
    assert same_type(body.properties["text"].type, StringType())
    assert same_type(body.properties["both"].type, StringType(sensitive=True))


def test_variants_may_be_annotated_and_nested() -> None:
    inner = Annotated[Courier, Field(description="x")] | Annotated[Pickup, Field(description="y")]
    found = only(Annotated[inner, Field(discriminator="kind")] | None, None).type
    assert isinstance(found, DiscriminatedObjectType)
    assert list(found.variants) == ["courier", "pickup", "locker"]


def test_a_model_that_takes_anything_has_additional_properties() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    body = body_of(Open)
    assert isinstance(body, ObjectType)
    assert isinstance(body.additional_properties, AnyType)


def test_types_say_what_templates_can_do_with_them() -> None:
    index = index_of("x", "1", {"a@1": Size, "b@1": Size}, without_get={"a@1"}, without_save={"b@1"})
    a, b = index.resource("a@1"), index.resource("b@1")
    assert (a.readable, a.writable, b.readable, b.writable) == (False, True, True, False)


class TwoNames(BaseModel):
    a: str = Field(validation_alias="x", serialization_alias="y")


class SameName(BaseModel):
    a: str = Field(alias="x")
    b: str = Field(alias="x")


class NoTag(BaseModel):
    other: str


class Bad:
    """Metadata that pydantic passes over and we read."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern


class Endless(RootModel["list[Endless]"]):
    pass


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: index_of("x", "1", {"note@": Size}), "Size: .*name@version"),
        (lambda: index_of("x", "1", {"a@1": Size, "A@1": Size}), "one type"),
        (lambda: body_of(TwoNames), "TwoNames.a: is read as 'x' and written as 'y'"),
        (lambda: body_of(SameName), "SameName: two fields are written as 'x'"),
        (lambda: body_of(RootModel[list[int]]), "a resource or a configuration is an object"),
        (lambda: only(Secret[int]), "M.p: Secret is for texts"),
        (lambda: only(ReadOnly[WriteOnly[str]]), "M.p: cannot be both read-only and write-only"),
        (lambda: only(Literal[b"x"]), "M.p: the choice b'x'"),
        (lambda: only(Annotated[str, re.compile("x"), Bad("(")]), r"M.p: the pattern '\(' cannot be read"),
        (lambda: body_of(Endless), "Endless contains itself"),
        (lambda: _Converter()._discriminated([Courier, str], "kind", "M.p"), "M.p: the variants .* are models"),
        (lambda: _Converter()._discriminated([Courier, NoTag], "kind", "M.p"), "M.p: NoTag has no field 'kind'"),
        (lambda: _Converter()._discriminated([Courier, Courier], "kind", "M.p"), "two variants have 'kind' 'courier'"),
        (lambda: _Converter()._discriminated([Size, Size], "width", "M.p"), "Size.width: tells variants apart"),
    ],
)
def test_what_has_no_counterpart_is_refused_with_model_and_field(make: Any, told: str) -> None:
    with pytest.raises(TypesError, match=told):
        make()


FIELDS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=5),
    int: st.integers(-9, 9),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    Colour: st.sampled_from(Colour),
    Level: st.sampled_from(Level),
    Size: st.builds(Size, width=st.integers(1, 999)),
    list[int]: st.lists(st.integers(), max_size=2),
    dict[str, bool]: st.dictionaries(st.text(max_size=3), st.booleans(), max_size=2),
    str | None: st.none() | st.just("x"),
    list[Size | None]: st.lists(st.none() | st.builds(Size, width=st.just(4)), max_size=2),
    Courier | Size: st.builds(Courier, company=st.just("c")) | st.builds(Size, width=st.just(3)),
    datetime.datetime: st.datetimes(),
    uuid.UUID: st.uuids(),
    tuple[int, str]: st.tuples(st.integers(), st.just("x")),
    Category: st.just(Category(name="a", inside=[Category(name="b")])),
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(list(FIELDS)), min_size=1, max_size=4), st.data())
def test_what_a_model_writes_fits_its_type(annotations: list[Any], data: st.DataObject) -> None:
    model = create_model("M", **{f"f{n}": (annotation, ...) for n, annotation in enumerate(annotations)})  # type: ignore[call-overload]
    instance = model(**{f"f{n}": data.draw(FIELDS[annotation]) for n, annotation in enumerate(annotations)})
    index = index_of("x", "1.0.0", {"m@1": model})
    body = instance.model_dump(mode="json", by_alias=True)
    for resource in (index.resource("m@1"), TypeIndex.from_files(*index.write()).resource("m@1")):
        assert validate(body, resource, purpose="save") == []
        assert validate(body, resource, purpose="result") == []
