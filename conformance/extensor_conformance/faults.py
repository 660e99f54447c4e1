"""Ways to make the world behind the provider fail: a hook that the provider reads, or inputs that the author names.

Kinds: ``throttle``, ``transient``, ``denied`` (the backend refuses), ``half-create`` (the second step of a create
fails), ``delete-fails``, ``raise`` (an unhandled exception in the handler), ``slow`` (the handler takes long).
"""

import json
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from extensor.contract import Json, JsonObject
from extensor_conformance.verdicts import NotTested

HOOK_VARIABLE = "EXTENSOR_TEST_FAULTS"
"""Names a JSON file. A provider with a hook reads it at the start of each operation:
``{"fault": "throttle", "verb": "save", "times": 1, "seconds": 5}``, or ``{}`` for none."""

KINDS = ("throttle", "transient", "denied", "half-create", "delete-fails", "raise", "slow")


@dataclass(slots=True)
class Faults:
    """What is on offer; each worker has its own, so that one's fault is not another's."""

    triggers: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    """Kind to the property values that make a save of them fail so."""
    hook: Path | None = None
    hook_kinds: frozenset[str] = frozenset()

    @classmethod
    def from_fixture(cls, table: JsonObject, mode: str | None) -> "Faults":
        """From the table ``[faults]`` and ``--faults``; ``hook`` may be ``true`` or a list of kinds."""
        triggers = table.get("triggers")
        hook = table.get("hook", mode == "hook")
        kinds = frozenset(KINDS if hook is True else hook or ())
        place = None
        if kinds:
            handle, name = tempfile.mkstemp(prefix="conformance-faults-", suffix=".json")
            os.write(handle, b"{}")
            os.close(handle)
            place = Path(name)
        return cls(triggers if isinstance(triggers, dict) else {}, place, kinds)

    def offers(self, kind: str) -> bool:
        """Whether that kind of fault can be made."""
        return kind in self.triggers or kind in self.hook_kinds

    def environment(self) -> dict[str, str]:
        """What the provider's process needs to see."""
        return {HOOK_VARIABLE: str(self.hook)} if self.hook else {}

    @contextmanager
    def inject(self, kind: str, properties: JsonObject, **more: Json) -> Generator[JsonObject]:
        """Within the block operations fail so; yields the properties to send, with trigger values put in.

        `more` goes to the hook: ``verb`` (wire spelling), ``times``, ``seconds``. Raises `NotTested`.
        """
        if kind in self.triggers:
            yield {**properties, **self.triggers[kind]}
            return
        if self.hook is None or kind not in self.hook_kinds:
            raise NotTested(f"no fault of kind {kind} is on offer: use --faults hook, or name a trigger in [faults]")
        self._tell(self.hook, {"fault": kind, **more})
        try:
            yield properties
        finally:
            self._tell(self.hook, {})

    def _tell(self, hook: Path, fault: JsonObject) -> None:
        """In one step, so that no provider reads half of it."""
        new = hook.with_suffix(".new")
        new.write_text(json.dumps(fault), encoding="utf-8")
        new.replace(hook)

    def close(self) -> None:
        """Remove what was made for the hook."""
        if self.hook is not None:
            self.hook.unlink(missing_ok=True)
