"""Ways to make the world behind the provider fail.

A hook that the provider reads, a proxy between it and its backend, or inputs that the author names.

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
from extensor_conformance.fault_proxy import KINDS as PROXY_KINDS
from extensor_conformance.fault_proxy import FaultProxy
from extensor_conformance.fixture import FixtureError
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
    proxy: FaultProxy | None = None
    proxy_key: str | None = None
    """The key of the configuration that holds the backend's address."""

    @classmethod
    def from_fixture(cls, table: JsonObject, mode: str | None, config: JsonObject | None = None) -> "Faults":
        """From the table ``[faults]`` and ``--faults``.

        ``triggers.KIND`` are property values; ``hook`` is ``true`` or a list of kinds; ``proxy`` is the key of the
        configuration whose value, an address, is replaced by the proxy's. Raises `FixtureError`.
        """
        triggers = table.get("triggers")
        hook = table.get("hook", mode == "hook")
        kinds = frozenset(KINDS if hook is True else hook or ())
        key = table.get("proxy")
        upstream = proxied_address(table, mode, config or {})
        proxy = FaultProxy(upstream) if upstream is not None else None
        return cls(
            triggers if isinstance(triggers, dict) else {},
            _hook_file() if kinds else None,
            kinds,
            proxy,
            str(key) if proxy is not None else None,
        )

    def offers(self, kind: str) -> bool:
        """Whether that kind of fault can be made."""
        return kind in self.triggers or kind in self.hook_kinds or (self.proxy is not None and kind in PROXY_KINDS)

    def config(self, config: JsonObject) -> JsonObject:
        """The configuration as the provider is to see it."""
        if self.proxy is None or self.proxy_key is None:
            return config
        return {**config, self.proxy_key: self.proxy.url}

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
        if not self.offers(kind):
            raise NotTested(f"no fault of kind {kind} is on offer: use --faults hook, or name a trigger in [faults]")
        self._tell({"fault": kind, **more})
        try:
            yield properties
        finally:
            self._tell({})

    def _tell(self, fault: JsonObject) -> None:
        if self.proxy is not None:
            self.proxy.fail(fault)
        if self.hook is not None:
            new = self.hook.with_suffix(".new")
            new.write_text(json.dumps(fault), encoding="utf-8")
            new.replace(self.hook)  # in one step, so that no provider reads half of it

    def close(self) -> None:
        """Remove what was made."""
        if self.proxy is not None:
            self.proxy.close()
            self.proxy = None
        if self.hook is not None:
            self.hook.unlink(missing_ok=True)


def proxied_address(table: JsonObject, mode: str | None, config: JsonObject) -> str | None:
    """The backend's address that the proxy stands before; ``None`` without a proxy. Raises `FixtureError`."""
    key = table.get("proxy")
    if mode != "proxy" and key is None:
        return None
    upstream = config.get(str(key))
    if not isinstance(upstream, str) or not upstream.startswith(("http://", "https://")):
        raise FixtureError("[faults] proxy names the key of [config] that holds the backend's http address")
    return upstream


def _hook_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="conformance-faults-", suffix=".json")
    os.write(handle, b"{}")
    os.close(handle)
    return Path(name)
