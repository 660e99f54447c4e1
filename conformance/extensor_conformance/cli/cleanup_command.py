"""``provider-conformance cleanup``: remove what earlier runs made and could not remove, and nothing else."""

import argparse
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console, printable
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_folder, add_subject, duration, fixture_of, listed, subject_of
from extensor_conformance.cli.provider_bench import provider_bench

if TYPE_CHECKING:
    from extensor.contract import JsonObject
    from extensor_conformance.bench import Bench
    from extensor_conformance.ledger import Made
    from extensor_conformance.removal import Inspection
    from extensor_conformance.settings import Settings

_ROUNDS = 3
"""How often the removal is tried, for objects that stand in each other's way."""

_DESCRIPTION = """\
Remove what earlier runs made and what is still there. Each run writes a ledger
before it makes anything; a run that ends well removes everything and its ledger.

  provider-conformance cleanup              say what is left; nothing is touched
  provider-conformance cleanup --yes        remove it
  provider-conformance cleanup --yes --older-than 1d --type 'note*'

The provider is started as the run did; give `-- CMD` to start another. Nothing is
deleted that is not in a ledger, and nothing of a run that is still going on.
After each delete a get looks whether it is gone; what is still there stays in
the ledger, and the exit code is 5.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_subject(parser)
    parser.add_argument("--yes", action="store_true", help="remove; without it only tell what would be removed")
    parser.add_argument(
        "--run", dest="runs", metavar="NAME", action="append", help="only this run's ledger; repeatable"
    )
    parser.add_argument("--older-than", metavar="TIME", type=duration, help="only of runs that began so long ago")
    parser.add_argument("--type", metavar="TYPE", action="append", help="only these types: names or patterns")
    parser.add_argument("--timeout", metavar="TIME", type=duration, default=30.0, help="for one answer; default: 30s")
    add_folder(parser)


def left_behind(folder: Path) -> "list[tuple[Path, JsonObject, list[Made]]]":
    """The ledgers of a folder that no run uses, with their first lines and what may still exist, newest first."""
    from extensor_conformance.ledger import in_use, ledgers, read_ledger

    found: list[tuple[Path, JsonObject, list[Made]]] = []
    for path in ledgers(folder):
        try:
            if not in_use(path):
                header, left = read_ledger(path)
                found.append((path, header, left))
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return [item for item in found if item[2]]


def _run(args: argparse.Namespace, console: Console) -> Exit:
    chosen = [item for item in left_behind(args.folder) if _wanted(item[0], args)]
    if args.runs and not chosen:
        raise Trouble(f"no ledger in {args.folder} is called {', '.join(args.runs)}, or nothing of it is left")
    patterns = [pattern.lower() for pattern in listed(args.type)]
    todo = [(path, header, _of_types(left, patterns)) for path, header, left in chosen]
    count = sum(len(left) for _, _, left in todo)
    if not count:
        console.out("nothing is left behind")
        return Exit.OK
    stuck = unseen = 0
    for path, header, left in todo:
        if left:
            console.out(f"{path.stem.removeprefix('ledger-')}   begun {header.get('at')}")
            if args.yes:
                sweep = _Sweep(console, path)
                with provider_bench(_settings(args, header)) as (bench, _):
                    stuck += sweep.execute(bench, left)
                unseen += sweep.unseen
            else:
                _tell(console, left)
    if not args.yes:
        console.out(f"{count} may still be there; nothing was touched: add --yes to remove")
        return Exit.OK
    doubt = f" ({unseen} of them deleted, not verified)" if unseen else ""
    console.out(f"{count - stuck} removed{doubt}, {stuck} left")
    return Exit.LEFTOVERS if stuck else Exit.OK


def _tell(console: Console, left: "Sequence[Made]") -> None:
    for made in left:
        sure = "" if made.certain else "   (its save was not answered; it may not exist)"
        if made.deleted:
            sure = "   (its delete was answered; nobody has looked whether it is gone)"
        console.out(f"  {printable(f'{made.type} {made.identifiers}')}{sure}")


class _Sweep:
    """Removes what one ledger names: a delete, and a get that shows whether it is gone."""

    def __init__(self, console: Console, path: Path) -> None:
        self._console = console
        self._path = path
        self.unseen = 0
        """Of how many removed ones nobody could see that they are gone."""

    def execute(self, bench: "Bench", left: "Sequence[Made]") -> int:
        """How many of them are still there."""
        from extensor_conformance.removal import Inspection

        inspection = Inspection(bench)
        waiting = {made.number: made for made in left}
        reasons: dict[int, str] = {}
        self._look(inspection, waiting, [made for made in left if made.deleted])
        for _ in range(_ROUNDS):
            deleted: list[Made] = []
            for made in waiting.values():
                reason = _remove(bench, made)
                if reason is None:
                    deleted.append(made)
                else:
                    reasons[made.number] = bench.watch.secrets.mask_text(reason)
            reasons |= self._look(inspection, waiting, deleted)
        for made in waiting.values():
            text = printable(f"{made.type} {made.identifiers}: {reasons[made.number]}")
            self._console.out(f"  {self._console.paint('LEFT', 'red')}     {text}")
        return len(waiting)

    def _look(self, inspection: "Inspection", waiting: "dict[int, Made]", deleted: "Sequence[Made]") -> dict[int, str]:
        """Strike out what is gone; why the others are not."""
        from extensor_conformance.ledger import strike
        from extensor_conformance.removal import Sight

        reasons: dict[int, str] = {}
        for made in deleted:
            sight, why = inspection.of(made)
            if sight is Sight.THERE:
                reasons[made.number] = why
                continue
            strike(self._path, made)
            del waiting[made.number]
            doubt = f"   ({sight}: {why})" if why else ""
            self.unseen += bool(why)
            text = printable(f"{made.type} {made.identifiers}{doubt}")
            self._console.out(f"  {self._console.paint('removed', 'green')}  {text}")
        return reasons


def _remove(bench: "Bench", made: "Made") -> str | None:
    """Why it could not be removed; ``None`` when a delete says that it is gone."""
    from extensor.contract import ErrorCode, Verb
    from extensor.errors import ConnectionFailed, StartFailed
    from extensor_conformance.answers import ConnectionEnded, NoAnswer
    from extensor_conformance.kind import find_kind
    from extensor_conformance.removal import first_line
    from extensor_conformance.verdicts import Failed

    kind = find_kind(bench.watch.kinds, made.type)
    if kind is None or not kind.has(Verb.DELETE):
        return "the provider has no such type, or it has no delete"
    try:
        answer = bench.call(Verb.DELETE, made.identifiers, kind=kind, config_id=made.config_id)
    except (NoAnswer, ConnectionEnded, StartFailed, ConnectionFailed, Failed) as error:
        return first_line(error)
    return None if answer.ok or answer.has_code(ErrorCode.RESOURCE_NOT_FOUND) else str(answer.error)


def _settings(args: argparse.Namespace, header: "JsonObject") -> "Settings":
    """How the run reached its provider, unless the command line says otherwise."""
    from extensor_conformance.fixture import FixtureError, load_fixture
    from extensor_conformance.settings import Settings
    from extensor_conformance.subject import Subject

    if args.config is not None or not header.get("fixture"):
        fixture = fixture_of(args)
    else:
        try:
            fixture = load_fixture(Path(header["fixture"]))
        except FixtureError as error:
            raise Trouble(f"the run's configuration cannot be read: {error}; give another with --config") from None
    told = args.command or args.app or args.socket is not None or args.tcp is not None
    if told:
        subject = subject_of(args, fixture)
    else:
        cwd = header.get("cwd")
        command = tuple(header.get("command") or ())
        if not command and not header.get("address"):
            raise Trouble("the ledger does not say how the provider was started: give `-- CMD`")
        subject = Subject(command, header.get("address"), args.cwd or (Path(cwd) if cwd else None), fixture.env)
    return Settings(subject, fixture, timeout=args.timeout, folder=None)


def _wanted(path: Path, args: argparse.Namespace) -> bool:
    name = path.stem.removeprefix("ledger-")
    if args.runs and not any(name == run.removeprefix("ledger-").removesuffix(".jsonl") for run in args.runs):
        return False
    return args.older_than is None or time.time() - path.stat().st_mtime >= args.older_than


def _of_types(left: "list[Made]", patterns: list[str]) -> "list[Made]":
    if not patterns:
        return left
    return [
        made
        for made in left
        if any(
            fnmatchcase(made.type.lower(), one) or fnmatchcase(made.type.lower().rpartition("@")[0], one)
            for one in patterns
        )
    ]


COMMAND = Command("cleanup", "remove what earlier runs left behind", _DESCRIPTION, _add_arguments, _run)
