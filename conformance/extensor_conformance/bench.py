"""What a check works with: a connection that is there when it is needed, names, the probe, faults, and a clean table.

One bench belongs to one worker and is used by one thread, its own.
"""

import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from extensor.contract import Json, JsonObject, Verb
from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.adapters import Adapter, Feature, adapter_for
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer, NotExpressible
from extensor_conformance.canary import Canaries
from extensor_conformance.case import Case, Trial
from extensor_conformance.connection import Connection
from extensor_conformance.faults import Faults
from extensor_conformance.kind import Kind, find_kind
from extensor_conformance.ledger import Ledger, Made
from extensor_conformance.monitors import every_monitor
from extensor_conformance.names import Names
from extensor_conformance.patience import READS, Patience
from extensor_conformance.probe import Probe
from extensor_conformance.provider import Provider
from extensor_conformance.removal import first_line, inspect
from extensor_conformance.settings import Settings
from extensor_conformance.tracking import Tracker
from extensor_conformance.transcript import write
from extensor_conformance.verdicts import Failed, NotTested
from extensor_conformance.watch import Watch

if TYPE_CHECKING:
    from extensor_conformance.draw import Draw

T = TypeVar("T")
SWEEPS = 3
"""How often the removal of what a case made is tried, for objects that stand in each other's way."""
DOUBTS = 500
"""Deleted objects that nobody has looked at, before somebody does; in most runs that is at their end."""


class Bench:
    """See the module. `kind`, `case` and `random` belong to the case that is being played."""

    def __init__(
        self,
        settings: Settings,
        *,
        names: Names,
        canaries: Canaries,
        ledger: Ledger,
        deadline: float | None = None,
    ) -> None:
        self.settings = settings
        self.faults = Faults.from_fixture(settings.fixture.faults, settings.faults, settings.fixture.config)
        self.fixture = replace(settings.fixture, config=self.faults.config(settings.fixture.config))
        self.names = names
        self.canaries = canaries
        self.ledger = ledger
        self.deadline = deadline if deadline is not None else time.monotonic() + settings.budget
        """Monotonic time at which the run is to be over."""
        self.adapter: Adapter = adapter_for(settings.subject)
        probe, folder = settings.probe or self.fixture.probe, settings.subject.cwd or self.fixture.cwd
        self._probe = Probe(probe, folder, settings.fixture.config) if probe else None
        self.tracker = Tracker(ledger)
        self.patience = Patience()
        monitors = (self.tracker, self.patience, *every_monitor(canaries, settings.fixture.secrets))
        self.watch = Watch(monitors, before=self._before)
        self.watch.secrets.add(*self.fixture.secrets)
        self.provider: Provider | None = None
        self.kind: Kind | None = None
        self.case: Case | None = None
        self.random = random.Random(0)  # noqa: S311 - choices of a case, from its seed
        """For a procedure's own choices; seeded by the case."""
        self.config_id: str | None = None
        """What the provider answered last in this case."""
        self.stuck: list[tuple[Made, str]] = []
        """What could not be removed, and why."""
        self.calls = 0
        self.facts: dict[str, Json] = {}
        """What a procedure measured, for the report."""
        self.probed = False
        """Whether the probe was asked in this case."""
        self._shared: Connection | None = None
        self._others: list[Connection] = []
        self._opened = 0
        self._suspect = False

    # -- connections --------------------------------------------------------------------------------------------------

    def connection(self) -> Connection:
        """The worker's own connection, greeted; a new one when the last has ended. Raises `Failed`."""
        if self._shared is None or not self._shared.alive:
            if self._shared is not None:
                self._shared.close(patient=False)
            self._shared = self.open()
        self._shared.timeout = min(self.settings.timeout, max(1.0, self.left()))
        return self._shared

    def break_link(self) -> None:
        """Drop the worker's link without a word and connect again.

        To the same process where the wire can; over stdio that process sees the end of its input and has two seconds to
        finish before the next one is started.
        """
        old = self.connection()
        old.drop()
        try:
            again = old.another(old.name)
        except NotExpressible:
            old.close()
            self._shared = None
        else:
            again.take_over(old)
            again.greet()
            self._shared = again

    def fresh(self, *, greet: bool = True, env: Mapping[str, str] | None = None, **options: Json) -> Connection:
        """A new process (a new connection, where the kit did not start it), closed when the case ends.

        `env` is added to its environment; `options` go to the adapter: ``framing="headers"``.
        """
        made = self.open(greet=greet, env=env, **options)
        self._others.append(made)
        return made

    def second(self, connection: Connection | None = None) -> Connection:
        """Another client of the same process, greeted, closed when the case ends. Raises `NotExpressible`."""
        self._opened += 1
        made = (connection or self.connection()).another(str(self._opened))
        made.timeout = self.settings.timeout
        self._others.append(made)
        made.greet()
        return made

    def open(self, *, greet: bool = True, env: Mapping[str, str] | None = None, **options: Json) -> Connection:
        """Like `fresh`, for a caller who closes it."""
        self._opened += 1
        subject = self.settings.subject
        added = {**subject.env, **self.faults.environment(), **self.fixture.env, **(env or {})}
        subject = replace(subject, env=added)
        patience = self.settings.start_timeout
        made = self.adapter.open(subject, self.watch, name=str(self._opened), start_timeout=patience, **options)
        made.timeout = self.settings.timeout
        if greet:
            try:
                made.greet(timeout=patience)
            except BaseException:
                made.close(patient=False)
                raise
        return made

    def restart(self, how: str = "eof") -> Connection:
        """End the worker's process, ``eof``, ``shutdown``, ``term`` or ``kill``, and start a new one.

        Raises `NotTested` when the kit did not start the provider.
        """
        if not self.settings.subject.owned:
            raise NotTested("the kit did not start the provider and cannot restart it")
        if self._shared is not None:
            old, self._shared = self._shared, None
            if old.alive:
                with suppress(NoAnswer, ConnectionEnded):
                    if how == "shutdown":
                        old.shutdown()
                    elif how == "term":
                        old.signal("TERM")
                    elif how == "kill":
                        old.signal("KILL")
            old.close(patient=how != "kill")
        return self.connection()

    @property
    def features(self) -> frozenset[Feature]:
        """What the wire can express."""
        return self.adapter.features

    @property
    def probe(self) -> Probe:
        """The author's probe. Raises `NotTested` when there is none."""
        if self._probe is None:
            raise NotTested("no probe was given: --probe CMD")
        self.probed = True
        return self._probe

    @property
    def has_probe(self) -> bool:
        """Whether there is a probe."""
        return self._probe is not None

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(
        self,
        verb: Verb,
        properties: Json,
        *,
        kind: Kind | None = None,
        connection: Connection | None = None,
        timeout: float | None = None,
        **more: Json,
    ) -> Answer:
        """One verb on the worker's connection (or another), with the fixture's config and the last configId.

        `more` as of `Connection.call_verb`. Raises `NoAnswer`, `ConnectionEnded`.
        """
        about = kind or self.kind
        assert about is not None, "a call needs a type"
        more.setdefault("config", self.fixture.config)
        more.setdefault("config_id", self.config_id)
        self.settle(verb, properties, about)
        self.pace()
        try:
            answer = (connection or self.connection()).call(verb, about.name, properties, timeout=timeout, **more)
        except NoAnswer:
            self._suspect = True
            raise
        if answer.config_id is not None:
            self.config_id = answer.config_id
        return answer

    def save(self, properties: JsonObject, **more: Json) -> Answer:
        """See `call`."""
        return self.call(Verb.SAVE, properties, **more)

    def preview(self, properties: JsonObject, **more: Json) -> Answer:
        """See `call`."""
        return self.call(Verb.PREVIEW_SAVE, properties, **more)

    def get(self, properties: JsonObject, **more: Json) -> Answer:
        """`get` with the identifiers of a body; see `call`."""
        return self.call(Verb.GET, self._named(properties, more), **more)

    def delete(self, properties: JsonObject, **more: Json) -> Answer:
        """`delete` with the identifiers of a body; see `call`."""
        return self.call(Verb.DELETE, self._named(properties, more), **more)

    def must(self, answer: Answer, what: str) -> Answer:
        """The answer of a control. Raises `NotTested` when it is an error."""
        if answer.error is not None:
            raise NotTested(f"{what} was refused: {answer.error}")
        return answer

    def valid(self, *, full: bool = False) -> JsonObject:
        """A valid body of the type under test, for procedures; from the case's seed, each call another."""
        assert self.kind is not None
        kind = self.kind
        return self.draw(lambda draw: kind.valid(draw, full=full))

    def draw(self, plan: "Callable[[Draw], T]") -> T:
        """What `plan` makes of choices from the case's seed, each call others; for procedures."""
        from extensor_conformance.generate import collect

        seed = self.random.getrandbits(48)
        return collect(plan, seed=seed, count=2, names=self.names, canaries=self.canaries)[-1]

    # -- cases --------------------------------------------------------------------------------------------------------

    def begin(self, case: Case, kind: Kind | None) -> None:
        """A case begins on a clean table."""
        if self.tracker.doubts >= DOUBTS:
            self.stuck += inspect(self, self.tracker.doubtful())
        self.case, self.kind = case, kind
        self.config_id = None
        self.facts = {}
        self.probed = False
        self.random.seed(case.seed)
        self.watch.begin()

    def play(self, case: Case) -> Trial:
        """Send the steps of a case and gather the answers."""
        from extensor_conformance.player import play

        return play(self, case)

    def end(self, *, solo: bool = False, failed: bool = False) -> None:
        """The case is over: its own connections are closed and what it made is removed."""
        if self.settings.transcripts is not None and self.case is not None:
            name = f"{self.case.check.lower()}-{self.case.id}.jsonl"
            write(self.settings.transcripts / name, self.watch.transcript.entries(self.watch.secrets))
        for connection in self._others:
            connection.close(patient=False)
        self._others.clear()
        if self._suspect or (solo and self._shared is not None):
            self._discard()
        keep = self.settings.keep_resources
        if keep == "always" or (keep == "on-failure" and failed):
            for made in self.tracker.mine():
                self.tracker.forget(made)
        else:
            self.sweep()

    def sweep(self) -> None:
        """Remove what this worker made; what resists goes to `stuck` and stays in the ledger."""
        for attempt in range(SWEEPS):
            left = self.tracker.mine()
            if not left:
                return
            for made in left:
                reason = self.remove(made)
                if reason is None or attempt < SWEEPS - 1:
                    continue
                self.tracker.forget(made)
                if made.certain:
                    self.stuck.append((made, reason))
                else:
                    self.ledger.refused(made)

    def last_sweep(self) -> list[tuple[Made, str]]:
        """At the end of the run: try once more, look whether all is gone, and say what is left and why."""
        if self.settings.keep_resources != "always":
            self.sweep()
        left: dict[str, tuple[Made, str]] = {}
        for made, _ in reversed(self.stuck):
            reason = self.remove(made)
            if reason is not None:
                left[made.key] = made, reason
        self.stuck = []
        left |= {made.key: (made, reason) for made, reason in inspect(self, self.tracker.doubtful())}
        return list(left.values())

    def remove(self, made: Made) -> str | None:
        """Delete something that the ledger names. Why it could not be; ``None`` when its delete was answered."""
        kind = find_kind(self.watch.kinds, made.type)
        if kind is None or not kind.has(Verb.DELETE):
            return "its type has no delete"
        try:
            answer = self.call(Verb.DELETE, made.identifiers, kind=kind, config_id=made.config_id)
        except (NoAnswer, ConnectionEnded, StartFailed, ConnectionFailed, Failed) as error:
            self._discard()
            return first_line(error)
        if answer.error is not None:
            return str(answer.error)
        self.tracker.told_deleted(made)
        return None

    def close(self) -> None:
        """End everything."""
        for connection in self._others:
            connection.close(patient=False)
        self._others.clear()
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        self.faults.close()

    def abandon(self) -> None:
        """From another thread: kill the provider's processes, so that whatever waits for them ends."""
        for connection in (self._shared, *self._others):
            if connection is not None:
                with suppress(NotExpressible):
                    connection.signal("KILL")

    def renew(self) -> None:
        """End the worker's process; the next call starts a new one, in the case that makes it."""
        self._discard()

    def suspect(self) -> None:
        """The worker's process is not to be trusted any more: the next case gets a new one."""
        self._suspect = True

    def _discard(self) -> None:
        self._suspect = False
        if self._shared is not None:
            self._shared.close(patient=False)
            self._shared = None

    def _named(self, properties: JsonObject, more: Mapping[str, Json]) -> JsonObject:
        kind = more.get("kind") or self.kind
        return kind.identifiers(properties) if isinstance(kind, Kind) else properties

    def _before(self, verb: Verb, params: JsonObject) -> None:
        if self.settings.read_only:
            raise NotTested(f"it calls {verb.wire}, and the run is read-only")
        kind = find_kind(self.watch.kinds, params.get("type"))
        self.patience.changing(kind, params)
        if verb is Verb.SAVE:
            self.tracker.before_save(kind, params)

    def settle(self, verb: Verb, properties: Json, kind: Kind | None = None) -> None:
        """Before a read: wait until the declared window after the object's last change is over; `call` does so."""
        if verb in READS:
            seconds = min(self.patience.left(kind or self.kind, properties), self.left())
            if seconds > 0:
                time.sleep(seconds)

    def pace(self) -> None:
        """Count a call, and wait when the run may make only so many a second."""
        self.calls += 1
        limit = self.settings.rate_limit
        if limit:
            time.sleep(self.settings.workers / limit)

    def left(self) -> float:
        """Seconds until the run is to be over."""
        return self.deadline - time.monotonic()
