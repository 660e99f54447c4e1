"""SEC-03 and SEC-04, which the monitors judge, are given errors and logs to look at. SEC-06: processes and files."""

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from extensor.contract import Verb
from extensor.types import model
from extensor_conformance.answers import ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Needles
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.common import operable, pause, usable, value_at, with_value
from extensor_conformance.checks.secrets import secret_texts
from extensor_conformance.connection import Connection, Pending
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import NotApplicable, NotTested, Problem, Severity

LOUD = {
    "LOG_LEVEL": "DEBUG",
    "LOGLEVEL": "DEBUG",
    "DEBUG": "*",
    "RUST_LOG": "trace",
    "EXTENSOR_LOG": "debug",
    "EXTENSOR_LOG_LEVEL": "debug",
    "PYTHONASYNCIODEBUG": "1",
}
"""What makes programs of many makes talkative."""
MOST_FILES = 2000
LARGEST_FILE = 4 * 1024 * 1024
SPEAKING = re.compile(r"pass(word|wd|phrase)|secret|token|api_?key|private_?key|access_?key|credential", re.IGNORECASE)
HARMLESS = re.compile(
    r"(name|id|ids|ref|uri|url|path|type|version|policy|count|length|expiry|expires|endpoint|kind|hint)$", re.IGNORECASE
)


def _secretive(kind: Kind | None) -> Kind:
    if kind is None or not kind.secretive:
        raise NotApplicable("the type has no secret property")
    return kind


@check("SEC-03", operations={Verb.SAVE}, examples=2)
class SecretsInErrors(CaseCheck):
    """Secrets in bodies that are refused; the monitor looks at the errors."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        _secretive(kind)
        desired = kind.valid(draw, full=True)
        for path in secret_texts(kind, desired)[:3]:
            for wrong in ([draw.canaries.fresh()], {draw.canaries.fresh(): draw.canaries.fresh()}):
                body = with_value(desired, path, wrong)
                calls = (Call("preview", Verb.PREVIEW_SAVE, body), Call("save", Verb.SAVE, body))
                yield Plan(tuple(call for call in calls if kind.has(call.verb)), note="a secret of the wrong type")
        for mutation in list(kind.mutations(draw, desired))[:6]:
            yield Plan((Call("save", Verb.SAVE, mutation.properties),), note=mutation.note)

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del trial, kind
        return []


@check("SEC-04", scope="type")
class SecretsInLogs(Procedure):
    """A life at the loudest log level, with an unexpected exception where there is a way; the monitor looks at logs."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = _secretive(bench.kind)
        connection = bench.fresh(env=LOUD) if bench.settings.subject.owned else bench.connection()
        for full in (True, False):
            body = bench.valid(full=full)
            for verb in (Verb.PREVIEW_SAVE, Verb.SAVE, Verb.GET):
                if kind.has(verb):
                    sent = kind.identifiers(body) if verb is Verb.GET else body
                    bench.call(verb, sent, connection=connection)
            for path in secret_texts(kind, body)[:2]:
                wrong = with_value(body, path, [bench.canaries.fresh()])
                if kind.has(Verb.SAVE):
                    bench.call(Verb.SAVE, wrong, connection=connection)
            if kind.has(Verb.SAVE) and bench.faults.offers("raise"):
                with bench.faults.inject("raise", body, verb="save", times=1) as sent:
                    bench.call(Verb.SAVE, sent, connection=connection)
        if bench.settings.subject.owned:
            connection.close_input()
            connection.wait_exit(5)
        return []


@check("SEC-06", operations={Verb.SAVE}, process=True, scope="type")
class Surfaces(Procedure):
    """Children of the process and files it leaves while secrets pass through it; names that speak of secrets."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE)
        problems = list(_speaking(kind))
        if not kind.secretive:
            if not problems and not list(_named(kind)):
                raise NotApplicable("the type has no secret property, and none whose name speaks of one")
            return problems
        folder = bench.settings.subject.cwd or Path.cwd()
        began = time.time()
        connection = bench.fresh()
        needles = Needles()
        for _ in range(3):
            body = usable(bench, full=True)
            needles.add(*(str(value_at(body, path)) for path in secret_texts(kind, body)))
            pending = connection.call_verb(Verb.SAVE, kind.name, body, config=bench.fixture.config)
            seen = _children(needles, connection, pending)
            answer = pending.answer()
            if answer.error is not None:
                raise NotTested(f"the control is refused: {answer.error}")
            seen = seen or _child_of(needles, connection)
            if seen is not None:
                problems.append(Problem(seen, "$.properties", "save"))
            if kind.has(Verb.DELETE):
                bench.delete(body, connection=connection, config_id=answer.config_id)
            if seen is not None:
                break
        if kind.has(Verb.DELETE):
            for name in _files(needles, folder, began):
                message = f"a secret is in a file that is left in the working folder: {name}"
                problems.append(Problem(message, "$.properties", "files"))
        return problems


def _named(kind: Kind) -> Iterator[str]:
    for path, item in _declared(kind.type.body, ()):
        if SPEAKING.search(path[-1]) and not HARMLESS.search(path[-1]) and isinstance(item.type, model.StringType):
            yield ".".join(path)


def _speaking(kind: Kind) -> Iterator[Problem]:
    for path, item in _declared(kind.type.body, ()):
        name, type_ = path[-1], item.type
        if not SPEAKING.search(name) or HARMLESS.search(name) or item.identifier:
            continue
        if isinstance(type_, model.StringType) and not type_.sensitive:
            place = "$.properties." + ".".join(path)
            message = f"the name of {'.'.join(path)} speaks of a secret, and its type is not sensitive"
            yield Problem(message, place, "types", severity=Severity.SHOULD)


def _declared(
    type_: model.Type, path: tuple[str, ...], above: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[str, ...], model.Property]]:
    if id(type_) in above:
        return
    tables = [type_.properties] if isinstance(type_, model.ObjectType) else []
    if isinstance(type_, model.DiscriminatedObjectType):
        tables = [variant.properties for variant in type_.variants.values()]
    for table in tables:
        for name, item in table.items():
            yield (*path, name), item
            inner = item.type.item_type if isinstance(item.type, model.ArrayType) else item.type
            yield from _declared(inner, (*path, name), (*above, id(type_)))


def _children(needles: Needles, connection: Connection, pending: Pending) -> str | None:
    """Look at the children while a save runs."""
    while not pending.answered and connection.alive:
        found = _child_of(needles, connection)
        if found is not None:
            return found
        try:
            pending.answer(0.001)
        except NoAnswer:
            continue
        except ConnectionEnded:
            return None
    return None


def _child_of(needles: Needles, connection: Connection) -> str | None:
    for pid in connection.children():
        for surface, words in (("cmdline", "command line"), ("environ", "environment")):
            try:
                data = Path(f"/proc/{pid}/{surface}").read_bytes()
            except OSError:  # gone, or not ours to read
                continue
            if needles.found_in(data):
                return f"a secret is in the {words} of a process that the provider started"
    return None


def _files(needles: Needles, folder: Path, began: float) -> list[str]:
    """Names of files below a folder that were written since, and hold a secret."""
    pause(0.05)
    found: list[str] = []
    looked = 0
    for where, folders, names in os.walk(folder):
        depth = len(Path(where).relative_to(folder).parts)
        skip = {"node_modules", "__pycache__"}
        folders[:] = [] if depth >= 3 else [name for name in folders if not name.startswith(".") and name not in skip]
        for name in names:
            looked += 1
            if looked > MOST_FILES:
                return found
            place = Path(where) / name
            try:
                facts = place.stat()
                if facts.st_mtime < began - 1 or facts.st_size > LARGEST_FILE or not place.is_file():
                    continue
                if needles.found_in(place.read_bytes()):
                    found.append(str(place.relative_to(folder)))
            except OSError:  # gone in between
                continue
    return found
