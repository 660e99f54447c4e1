"""Real processes that die: the engine in the middle of many resources, a provider in the middle of a save."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

PATIENCE = 60.0
COUNT = 200


@dataclass
class Site:
    """A template of boxes, the folder they lie in, and the command line at work on it."""

    folder: Path
    program: Path
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.boxes.mkdir()

    @property
    def boxes(self) -> Path:
        return self.folder / "boxes"

    def write(self, count: int = COUNT, text: str = "x") -> None:
        entries = {
            "root": {"import": "b", "type": "box@1.0", "properties": {"name": "root"}},
            "many": {
                "import": "b",
                "type": "box@1.0",
                "copy": {"name": "many", "count": count},
                "properties": {"name": "[format('n{0}', copyIndex())]", "text": text},
                "dependsOn": ["root"],
            },
        }
        (self.folder / "main.json").write_text(
            json.dumps(
                {
                    "languageVersion": "2.1-experimental",
                    "contentVersion": "1.0.0.0",
                    "imports": {"b": {"provider": "boxes", "version": "1.0.0", "config": {"root": "boxes"}}},
                    "resources": entries,
                }
            )
        )

    def start(self, command: str, *more: str) -> subprocess.Popen[bytes]:
        provider = f"boxes={sys.executable} {self.program}"
        argv = [sys.executable, "-m", "extensor.cli", command, "main.json", "--output", "json", *more]
        if command in ("deploy", "what-if"):
            argv += ["--provider", provider, "--parallelism", "8"]
        child = subprocess.Popen(argv, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.children.append(child)
        return child

    def run(self, command: str, *more: str) -> tuple[int, dict]:
        child = self.start(command, *more)
        out, errors = child.communicate(timeout=PATIENCE)
        assert out, errors.decode()
        return child.returncode, json.loads(out)

    def hold(self, *names: str) -> None:
        for name in names:
            (self.boxes / f"hold-{name}").touch()

    def release(self) -> None:
        for file in self.boxes.glob("hold-*"):
            file.unlink()

    def calls(self) -> list[tuple[str, str]]:
        log = self.boxes / "calls.log"
        return [tuple(line.split()) for line in log.read_text().splitlines()] if log.exists() else []

    def names(self) -> set[str]:
        return {file.stem for file in self.boxes.glob("*.box")}


@pytest.fixture
def site(tmp_path: Path, project: Path) -> Iterator[Site]:
    site = Site(tmp_path, project / "tests" / "engine" / "programs" / "boxes.py")
    yield site
    for child in site.children:
        if child.poll() is None:
            child.kill()
        child.communicate()


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Poll: another process's files and end give no event."""
    deadline = time.monotonic() + PATIENCE
    pause = 0.005
    while not true():
        assert time.monotonic() < deadline, f"waited {PATIENCE} s in vain until {what}"
        time.sleep(pause)


def kill_in_the_middle(site: Site, at: int) -> list[psutil.Process]:
    """Deploy until eight saves hang after `at` others, kill -9 the engine, and give the provider's processes."""
    held = [f"n{index}" for index in range(at, at + 8)]
    site.hold(*held)
    engine = site.start("deploy")
    wait_until(lambda: {("save", name) for name in held} <= set(site.calls()), "the held saves have begun")
    providers = psutil.Process(engine.pid).children(recursive=True)
    assert providers
    engine.send_signal(signal.SIGKILL)
    engine.communicate(timeout=PATIENCE)
    return providers


def test_killing_the_engine_in_the_middle_loses_nothing(site: Site) -> None:
    site.write()
    providers = kill_in_the_middle(site, 90)
    gone, alive = psutil.wait_procs(providers, timeout=10)
    assert not alive
    assert len(gone) == len(providers)

    code, view = site.run("show")
    assert code == 0
    assert view["status"] == "Interrupted"
    statuses = {record["identifiers"]["name"]: record["status"] for record in view["resources"]}
    assert site.names() <= statuses.keys()
    assert {name for name, status in statuses.items() if status == "Saving"} >= {f"n{index}" for index in range(90, 98)}
    assert {name for name, status in statuses.items() if status == "Saved"} <= site.names()

    site.release()
    code, result = site.run("deploy")
    assert (code, result["status"]) == (0, "Succeeded")
    assert site.names() == {"root", *(f"n{index}" for index in range(COUNT))}
    _, view = site.run("show")
    assert {record["status"] for record in view["resources"]} == {"Saved"}
    assert len(view["resources"]) == COUNT + 1


def test_after_a_killed_deployment_a_destruction_leaves_nothing(site: Site) -> None:
    site.write()
    psutil.wait_procs(kill_in_the_middle(site, 40), timeout=10)
    site.release()
    assert site.names()
    code, result = site.run("destroy")
    assert (code, result["status"]) == (0, "Succeeded")
    assert site.names() == set()
    _, view = site.run("show")
    assert view["resources"] == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_provider_that_dies_in_a_save_is_asked_what_it_did_before_it_is_asked_again(site: Site, moment: str) -> None:
    site.write(3)
    (site.boxes / f"die-{moment}-n1").touch()
    code, result = site.run("deploy")
    assert (code, result["status"]) == (0, "Succeeded")
    assert site.names() == {"root", "n0", "n1", "n2"}
    about_it = [verb for verb, name in site.calls() if name == "n1"]
    assert about_it == (["save", "get", "save"] if moment == "before" else ["save", "get"])


def test_a_second_run_on_a_stack_is_refused_at_once_and_told_who_holds_it(site: Site) -> None:
    site.write(2)
    site.hold("n0")
    first = site.start("deploy")
    wait_until(lambda: ("save", "n0") in site.calls(), "the first run is in the middle")
    for command in ("deploy", "destroy"):
        code, result = site.run(command)
        assert code != 0
        assert str(first.pid) in json.dumps(result)
    _, view = site.run("show")
    assert (view["status"], view["holderPid"]) == ("Running", first.pid)
    assert site.names() >= {"root"}
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=PATIENCE)
    site.release()
    code, _ = site.run("deploy")
    assert code == 0


def test_a_stopped_deployment_is_recorded_as_canceled(site: Site) -> None:
    site.write(60)
    site.hold("n58")
    engine = site.start("deploy", "--parallelism", "1")
    wait_until(lambda: ("save", "n3") in site.calls(), "some resources are saved")
    engine.send_signal(signal.SIGINT)
    out, errors = engine.communicate(timeout=PATIENCE)
    result = json.loads(out)
    assert result["status"] == "Canceled", errors.decode()
    _, view = site.run("show")
    assert view["status"] == "Canceled"
    assert {record["identifiers"]["name"] for record in view["resources"]} == site.names()
    site.release()
    code, _ = site.run("deploy")
    assert code == 0
