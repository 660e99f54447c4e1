"""Bodies for types that others published: Kubernetes and Microsoft Graph."""

import json
from pathlib import Path

import pytest

from extensor.types import TypeIndex
from extensor.types.validate import validate
from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names


@pytest.mark.parametrize("family", ["kubernetes", "microsoftgraph"])
def test_valid_bodies_and_single_faults_come_from_published_types(shared: Path, family: str) -> None:
    folder = next((shared / "data/types" / family).rglob("index.json")).parent
    index = TypeIndex.read_directory(folder)
    names = list(index.resources)
    chosen = names[:: max(1, len(names) // 5)]
    assert chosen
    for name in chosen:
        kind = Kind(name, index.resource(name))

        def plan(draw: Draw, kind: Kind = kind) -> tuple[object, int]:
            body = kind.valid(draw, full=draw.boolean())
            assert validate(body, kind.type, purpose="save") == []
            return body, len(list(kind.mutations(draw, body)))

        made = collect(plan, seed=1, count=3, names=Names("published"), canaries=Canaries("cnry0123abcd"))
        assert len(made) == 3, name
        assert max(len(json.dumps(body)) for body, _ in made) < 100_000
        assert all(count <= 60 for _, count in made)
