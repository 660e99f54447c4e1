"""What the tests of generation share: a type with every construct, and examples made for it."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from extensor.types import ResourceType, model
from extensor.types.flags import Flag
from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names

T = TypeVar("T")
REQUIRED, IDENTIFIER = Flag.REQUIRED, Flag.IDENTIFIER


def rich_body() -> model.ObjectType:
    """Every construct of the types, nested identifiers included."""
    port = model.ObjectType(
        "Port",
        {
            "number": model.Property(model.IntegerType(1, 65535), REQUIRED),
            "label": model.Property(model.StringType(min_length=2, max_length=8)),
            "token": model.Property(model.StringType(sensitive=True), Flag.WRITE_ONLY),
        },
    )
    shape = model.DiscriminatedObjectType(
        "Shape",
        "kind",
        {"filled": model.Property(model.BooleanType())},
        {
            "circle": model.ObjectType("Circle", {"radius": model.Property(model.NumberType(above=0), REQUIRED)}),
            "label": model.ObjectType("Label", {"text": model.Property(model.StringType(), REQUIRED)}),
        },
    )
    tree = model.ObjectType("Tree", {"value": model.Property(model.IntegerType(), REQUIRED)})
    tree.properties["left"] = model.Property(tree)
    tree.properties["others"] = model.Property(model.ArrayType(tree))
    place = model.ObjectType(
        "Place",
        {
            "zone": model.Property(model.StringType(pattern="^[a-z]{3}-[a-z0-9]{9,12}$"), REQUIRED | IDENTIFIER),
            "note": model.Property(model.StringType()),
        },
    )
    return model.ObjectType(
        "Thing",
        {
            "name": model.Property(
                model.StringType(min_length=3, max_length=30, pattern="^[a-z][a-z0-9-]*$"), REQUIRED | IDENTIFIER
            ),
            "place": model.Property(place, REQUIRED | IDENTIFIER),
            "mode": model.Property(
                model.UnionType([model.StringLiteralType("fast"), model.StringLiteralType("slow")]), REQUIRED
            ),
            "count": model.Property(model.IntegerType(0, 10)),
            "share": model.Property(model.NumberType(0, 1)),
            "on": model.Property(model.BooleanType()),
            "ports": model.Property(model.ArrayType(port, 1, 4)),
            "tags": model.Property(model.ObjectType("Tags", {}, model.StringType())),
            "shape": model.Property(shape),
            "tree": model.Property(tree),
            "either": model.Property(model.UnionType([model.NullType(), model.IntegerType(), port])),
            "anything": model.Property(model.AnyType()),
            "password": model.Property(model.StringType(sensitive=True, min_length=8), Flag.WRITE_ONLY),
            "fixed": model.Property(model.StringType(), immutable=True),
            "stamp": model.Property(model.StringType(), calculated=True),
            "made": model.Property(model.StringType(), Flag.READ_ONLY),
        },
    )


@pytest.fixture(scope="session")
def rich() -> Kind:
    """A kind with every construct."""
    return Kind("thing@1.0", ResourceType("thing@1.0", rich_body()))


@pytest.fixture
def names() -> Names:
    """Of this test."""
    return Names("generation")


@pytest.fixture
def canaries() -> Canaries:
    """Of this test."""
    return Canaries("cnry0123abcd")


@pytest.fixture
def examples(names: Names, canaries: Canaries) -> Callable[..., list[T]]:
    """Makes examples of a plan: ``examples(plan, count)``."""

    def make(plan: Callable[[Draw], T], count: int = 12, seed: int = 1) -> list[T]:
        return collect(plan, seed=seed, count=count, names=names, canaries=canaries)

    return make
