"""A small case tells of the planted bug alone: without the bug it passes, with it it fails as it was told."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from extensor_conformance.casefile import CaseFile, case_files
from extensor_conformance.fixture import Fixture
from extensor_conformance.replay import Ending, replay
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.steps import Call, Step
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Verdict

TRUTH = Path(__file__).parents[1] / "mutants" / "truth.py"
PROVIDER = """
import os

from pydantic import BaseModel

from extensor import Context, Identifier, Properties, Provider, ReadOnly, ResourceHandler

provider = Provider("servers", "1.0.0")
servers = {}


class Network(BaseModel):
    subnet: str
    port: int = 80


class Server(Properties):
    name: Identifier[str]
    network: Network
    labels: dict[str, str] | None = None
    address: ReadOnly[str | None] = None


@provider.resource("server@1.0")
class ServerHandler(ResourceHandler[Server]):
    def save(self, ctx: Context, desired: Server) -> Server:
        servers[desired.name] = self.made(desired, desired.network.port)
        return servers[desired.name]

    def preview_save(self, ctx: Context, desired: Server) -> Server:
        return self.made(desired, 80 if os.environ["BUG"] else desired.network.port)

    def get(self, ctx: Context, wanted: Server) -> Server | None:
        return servers.get(wanted.name)

    def delete(self, ctx: Context, wanted: Server) -> None:
        servers.pop(wanted.name, None)

    def made(self, desired: Server, port: int) -> Server:
        return desired.model_copy(update={"address": f"{desired.name}:{port}"})


provider.run()
"""


def bodies(steps: Iterable[Step]) -> dict[str, object]:
    return {step.name: step.properties for step in steps if isinstance(step, Call)}


def settings(folder: Path, bug: str, seed: int) -> Settings:
    """The provider previews another port than it saves, where there is the bug and the port is not the default."""
    program = folder / "provider.py"
    program.write_text(PROVIDER, encoding="utf-8")
    subject = Subject((sys.executable, str(program)), None, folder, {"BUG": bug})
    return Settings(
        subject, seed=seed, checks=("PRV-02", "PRV-03"), folder=folder / "kit", retries=1, shrink_budget=3, timeout=5
    )


def truthful(folder: Path, mutant: str) -> Settings:
    subject = Subject((sys.executable, str(TRUTH)), None, folder, {"MUTANT": mutant})
    config = {"endpoint": "http://here", "apiKey": "sesame-open-42"}
    return Settings(
        subject, Fixture(config=config), 1, ("PRV-01",), types=("box",), folder=folder / "kit", retries=1, timeout=5
    )


def test_a_case_too_small_to_judge_a_mended_provider_is_played_as_it_was_before(tmp_path: Path) -> None:
    Run(truthful(tmp_path, "M20")).execute()
    (file,) = case_files(tmp_path / "kit" / "cases")
    assert list(bodies(file.case.steps)) == ["preview 1", "get absent 1"]
    assert file.original is not None
    assert "save neighbour" in bodies(file.original.steps)

    assert replay(truthful(tmp_path, "M20"), file).ending is Ending.STILL_FAILS
    assert replay(truthful(tmp_path, ""), file).ending is Ending.FIXED
    alone = replace(file, original=None)
    assert replay(truthful(tmp_path, ""), alone).reason == "step save neighbour was not played"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_previews_and_saves_of_the_same_stay_of_the_same_so_that_a_mended_provider_passes(
    tmp_path: Path, seed: int
) -> None:
    Run(settings(tmp_path, "bug", seed)).execute()
    files: dict[str, CaseFile] = {file.check: file for file in case_files(tmp_path / "kit" / "cases")}
    assert set(files) == {"PRV-02", "PRV-03"}

    for file in files.values():
        sent = bodies(file.case.steps)
        assert sent["preview"] == sent["save"]
        assert file.original is not None
        assert [problem.path for problem in file.problems] == ["$.properties.address"]
        assert replay(settings(tmp_path, "bug", seed), file).ending is Ending.STILL_FAILS
        assert replay(settings(tmp_path, "", seed), file).ending is Ending.FIXED

    mended = Run(settings(tmp_path, "", seed)).execute()
    assert {outcome.verdict for outcome in mended.outcomes} == {Verdict.PASS}
    assert list(case_files(tmp_path / "kit" / "cases")) == []
