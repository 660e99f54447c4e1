"""The test hook in a provider's own process, and the conformance kit at the other end of it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., Any]
Data = Callable[..., dict[str, Any]]

CHECKS = ("ERR-04", "ERR-06", "ERR-07", "ERR-08", "DEL-06")
PROVIDER = """
from extensor import *

provider = Provider("notes", "1.0.0")
notes = {}

class Note(Properties):
    name: Identifier[str]
    text: str = ""
    place: Immutable[str | None] = None

def put(key, desired):
    notes[key] = made = desired.over(notes[key]) if key in notes else desired
    return made

class Handler(ResourceHandler[Note]):
    async def save(self, ctx, desired):
        return put(desired.name, desired)

    async def get(self, ctx, wanted):
        return notes.get(wanted.name)

    async def delete(self, ctx, wanted):
        notes.pop(wanted.name, None)

class Plain(ResourceHandler[Note]):
    def save(self, ctx, desired):
        return put("plain " + desired.name, desired)

    def get(self, ctx, wanted):
        return notes.get("plain " + wanted.name)

    def delete(self, ctx, wanted):
        notes.pop("plain " + wanted.name, None)

class Jealous(Handler):
    async def save(self, ctx, desired):
        if desired.name in notes:
            raise Conflict("it is there")
        return await super().save(ctx, desired)

class Clinging(Handler):
    async def delete(self, ctx, wanted):
        return None
"""
KINDS = "Handler", "Plain"
PYTHON = (sys.executable, "-m", "extensor.authoring", "provider_of_notes:provider")


@pytest.fixture
def verdicts(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Play the checks that need faults on a provider with the given handlers; verdict and type by check."""

    def play(*handlers: str, line: tuple[str, ...] = ("--", *PYTHON)) -> dict[str, str]:
        added = "".join(f'provider.add("note@{number}.0", {name})\n' for number, name in enumerate(handlers, 1))
        (tmp_path / "provider_of_notes.py").write_text(PROVIDER + added)
        report = tmp_path / "report.json"
        words = ("--deterministic", "--no-shrink", "--checks", ",".join(CHECKS), "--faults", "hook")
        done = subprocess.run(
            [sys.executable, "-m", "extensor_conformance.cli", "run", *words, "--report", f"json={report}", *line],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert report.exists(), done.stderr
        outcomes = json.loads(report.read_text())["outcomes"]
        assert outcomes, done.stdout
        return {f"{item['check']} {item['type']}": item["verdict"] for item in outcomes if item["check"] in CHECKS}

    return play


@pytest.mark.parametrize(
    "line",
    [
        ("--", *PYTHON),
        ("--app", "provider_of_notes:provider"),
        ("--socket", "--", *PYTHON, "--listen", "{address}"),
        ("--tcp", "--", *PYTHON, "--listen", "{address}"),
    ],
    ids=["stdio", "app", "unix", "tcp"],
)
def test_a_right_provider_passes_every_check_that_needs_faults(
    verdicts: Callable[..., dict[str, str]], line: tuple[str, ...]
):
    expected = {f"{check} note@{number}.0": "PASS" for check in CHECKS for number in (1, 2)}
    assert verdicts(*KINDS, line=line) == expected


def test_a_provider_that_does_not_stand_half_a_failure_is_caught(verdicts: Callable[..., dict[str, str]]):
    found = verdicts("Jealous", "Clinging")
    assert {name for name, verdict in found.items() if verdict == "FAIL"} == {
        "ERR-08 note@1.0",
        "ERR-08 note@2.0",
        "DEL-06 note@2.0",
    }


def test_the_hook_is_loud_when_it_is_on_and_is_not_even_imported_when_it_is_off(
    start: Start, resource_data: Data, tmp_path: Path
):
    code = """
    @provider.resource("note@1.0")
    class Handler(ResourceHandler[Note]):
        async def save(self, ctx, desired):
            return Note(name=desired.name, text=str("extensor.authoring.fault_hook" in sys.modules))
    """
    file = tmp_path / "faults.json"
    file.write_text('{"fault": "throttle", "verb": "save", "times": 1}')
    plain = start(code)
    assert plain.call("resource/save", resource_data({"name": "a"}))["result"]["properties"]["text"] == "False"
    assert plain.end() == 0
    assert plain.stderr == ""
    hooked = start(code, env={"EXTENSOR_TEST_FAULTS": "faults.json"})
    error = hooked.call("resource/save", resource_data({"name": "a"}))["error"]
    assert (error["data"]["transient"], error["data"]["retryAfterSeconds"]) == (True, 1)
    assert hooked.call("resource/save", resource_data({"name": "a"}))["result"]["properties"]["text"] == "True"
    assert hooked.end() == 0
    assert hooked.stderr.startswith("warning: test faults are on: EXTENSOR_TEST_FAULTS is set")
    assert hooked.stderr.count("\n") == 1
