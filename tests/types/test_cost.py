"""What importing and checking may cost."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from extensor.types import ArrayType, BooleanType, Flag, IntegerType, ObjectType, Property, StringType
from extensor.types.validate import validate

HEAVY = ("pydantic", "jsonschema", "annotated_types", "anyio", "difflib", "asyncio")


@pytest.mark.parametrize("module", ["index", "reader", "writer", "validate", "shape", "json_schema", "flags"])
def test_types_come_without_pydantic_and_jsonschema(module: str) -> None:
    code = f"import sys, extensor.types.{module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, timeout=30)
    assert done.stdout.strip() == "[]"


def test_the_marks_load_nothing_of_this_room_but_themselves() -> None:
    code = "import sys, extensor.types.flags; print(sorted(m for m in sys.modules if m.startswith('extensor.types')))"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, timeout=30)
    assert done.stdout.strip() == "['extensor.types', 'extensor.types.flags']"


def test_checking_a_good_body_costs_less_than_reading_it_from_json_twenty_times() -> None:
    """A bound that holds on a busy machine: one KiB is checked in about 10 µs and parsed in about 10 µs."""
    labels = ObjectType("labels", {}, StringType())
    item = ObjectType(
        "item",
        {
            "name": Property(StringType(), Flag.REQUIRED),
            "port": Property(IntegerType()),
            "on": Property(BooleanType()),
            "labels": Property(labels),
        },
    )
    body_type = ObjectType("body", {"name": Property(StringType(), Flag.REQUIRED), "items": Property(ArrayType(item))})
    one = {"name": "n" * 20, "port": 80, "on": True, "labels": {"app": "web", "tier": "front"}}
    body: dict[str, Any] = {"name": "x" * 100, "items": [one] * 11}
    text = json.dumps(body)
    assert len(text) > 1024
    assert validate(body, body_type, purpose="save") == []

    def best(act: Any) -> float:
        times: list[float] = []
        for _ in range(50):
            start = time.perf_counter()
            for _ in range(20):
                act()
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(lambda: validate(body, body_type, purpose="save")) < 20 * best(lambda: json.loads(text))
