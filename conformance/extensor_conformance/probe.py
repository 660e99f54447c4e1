"""The author's probe: a command that looks at the world behind the provider, and changes it out of band."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from extensor.contract import Json, JsonObject
from extensor.hosting.environment import environment
from extensor_conformance.verdicts import NotTested

TIMEOUT_SECONDS = 30.0


class ProbeFailed(NotTested):
    """The probe itself failed; says nothing of the provider."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Runs ``CMD VERB`` with ``{"type", "identifiers", "config", "change"?}`` on its input, JSON on its output.

    - ``exists`` answers ``{"exists": true | false}``
    - ``list`` answers ``{"objects": [identifiers, …]}``; strangers' objects may be among them
    - ``mutate`` applies ``change`` (properties to set) behind the provider's back and answers ``{}``
    - ``remove`` removes the object behind the provider's back and answers ``{}``
    """

    command: tuple[str, ...]
    cwd: Path | None = None
    config: JsonObject = field(default_factory=dict[str, Json])
    """The provider's configuration, which says where its world is."""

    def exists(self, type_: str, identifiers: JsonObject) -> bool:
        """Whether the object is there."""
        return self.ask("exists", type_, identifiers).get("exists") is True

    def list(self, type_: str) -> "list[JsonObject]":
        """The identifiers of all objects of a type."""
        found = self.ask("list", type_, {}).get("objects")
        return found if isinstance(found, list) else []

    def mutate(self, type_: str, identifiers: JsonObject, change: JsonObject) -> None:
        """Change it out of band."""
        self.ask("mutate", type_, identifiers, change)

    def remove(self, type_: str, identifiers: JsonObject) -> None:
        """Remove it out of band."""
        self.ask("remove", type_, identifiers)

    def ask(self, verb: str, type_: str, identifiers: JsonObject, change: Json = None) -> JsonObject:
        """One run of the command. Raises `ProbeFailed`."""
        question: JsonObject = {"type": type_, "identifiers": identifiers, "config": self.config}
        if change is not None:
            question["change"] = change
        try:
            done = subprocess.run(
                [*self.command, verb],
                input=json.dumps(question),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                cwd=self.cwd,
                env=environment(),
                check=False,
            )
            answer = json.loads(done.stdout) if done.returncode == 0 else None
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise ProbeFailed(f"the probe failed at {verb}: {error}") from error
        if not isinstance(answer, dict):
            raise ProbeFailed(
                f"the probe failed at {verb} with exit code {done.returncode}: {done.stderr.strip()[-500:]}"
            )
        return answer
