"""The flags of `run`, and the settings that they make."""

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from extensor.contract import Json
from extensor_conformance.cli.command import Trouble
from extensor_conformance.cli.ending import Policy
from extensor_conformance.cli.options import DEFAULT_FOLDER, duration, fixture_of, listed, number, subject_of, words
from extensor_conformance.cli.outputs import LAST

if TYPE_CHECKING:
    from extensor_conformance.fixture import Waiver
    from extensor_conformance.settings import Settings

DETERMINISTIC_SEED = 1
_NEAR = (".localhost", ".local", ".test", ".example", ".invalid", ".internal")
"""Ends of host names that are no production."""


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which checks on which types."""
    group = parser.add_argument_group("selection")
    group.add_argument("--level", metavar="N", type=number(1, 4), help="checks up to this level; default: 4")
    group.add_argument("--checks", metavar="ID", action="append", help="only these: ids or patterns such as 'PRV-*'")
    group.add_argument("--exclude-checks", metavar="ID", action="append", help="not these")
    group.add_argument("--type", metavar="TYPE", action="append", help="only these types: names or patterns")
    group.add_argument("--requirements", metavar="REV", default="1", help="revision of the requirements; default: 1")


def add_generation(parser: argparse.ArgumentParser) -> None:
    """How inputs are made."""
    group = parser.add_argument_group("generation")
    seeds = group.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seed", metavar="N", type=number(0, 2**63 - 1), help="make the cases of that seed again; default: a new one"
    )
    seeds.add_argument("--deterministic", action="store_true", help="the same seed each time")
    group.add_argument(
        "--max-examples", metavar="N", type=number(1, 100_000), default=6, help="inputs a check and type; default: 6"
    )
    group.add_argument("--no-shrink", action="store_true", help="tell failing cases as they were made")
    group.add_argument(
        "--shrink-budget", metavar="TIME", type=duration, default=10.0, help="for making one case small; default: 10s"
    )
    group.add_argument(
        "--repeat", metavar="N", type=number(2, 1000), default=3, help="how often equal calls are repeated; default: 3"
    )


def add_execution(parser: argparse.ArgumentParser) -> None:
    """How the run is done."""
    group = parser.add_argument_group("execution")
    workers = min(4, os.cpu_count() or 1)
    group.add_argument(
        "-j",
        "--workers",
        metavar="N",
        type=number(1, 64),
        default=workers,
        help=f"checks at once, each with its own provider process; default: {workers}",
    )
    group.add_argument("--timeout", metavar="TIME", type=duration, default=10.0, help="for one answer; default: 10s")
    group.add_argument(
        "--start-timeout", metavar="TIME", type=duration, default=30.0, help="for the handshake; default: 30s"
    )
    group.add_argument("--budget", metavar="TIME", type=duration, default=600.0, help="for the whole run; default: 10m")
    group.add_argument("--rate-limit", metavar="N", type=float, help="calls a second, over all workers")
    group.add_argument("--max-failures", metavar="N", type=number(1, 10_000), help="stop after so many FAIL")
    group.add_argument(
        "--retries",
        metavar="N",
        type=number(0, 100),
        default=2,
        help="reruns of a failure that tell FAIL from FLAKY, never FAIL from PASS; default: 2",
    )
    group.add_argument("--allow-kill", action="store_true", help="the provider may be killed at any moment")
    group.add_argument(
        "--probe",
        metavar="CMD",
        type=words,
        help="command that looks at the world behind the provider: CMD exists|list|mutate|remove, JSON in and out",
    )
    group.add_argument(
        "--faults",
        choices=("hook", "proxy", "triggers"),
        help="how the world is made to fail: the provider's test hook, a proxy before its backend, or the inputs of "
        "[faults.triggers]",
    )
    group.add_argument("--read-only", action="store_true", help="nothing that saves or deletes")


def add_policy(parser: argparse.ArgumentParser) -> None:
    """What counts as good."""
    group = parser.add_argument_group("policy")
    group.add_argument("--strict", action="store_true", help="WARN is FAIL")
    group.add_argument("--expected-failures", metavar="FILE", type=Path, help="waivers, as `baseline write` makes them")
    group.add_argument(
        "--require-level",
        metavar="N",
        type=number(0, 4),
        help="exit 7 when this level is not earned; default: --level, or 0 for a part of the checks",
    )
    group.add_argument(
        "--min-tested", metavar="PERCENT", type=float, default=0.0, help="exit 7 when less of what applies was tested"
    )
    group.add_argument("--baseline", metavar="FILE", type=Path, help="earlier JSON report, to compare latency with")
    group.add_argument("--old-types", metavar="DIR", type=Path, help="types of an earlier release, to compare with")


def add_safety(parser: argparse.ArgumentParser) -> None:
    """What happens to the world."""
    group = parser.add_argument_group("safety")
    group.add_argument("--name-prefix", metavar="TEXT", default="", help="begins every name that is made")
    group.add_argument(
        "--keep-resources",
        choices=("never", "on-failure", "always"),
        default="never",
        help="what was made is kept, for `cleanup` to remove; default: never",
    )
    group.add_argument(
        "--yes-this-is-not-production",
        action="store_true",
        help="needed when the configuration names an address that is not this machine",
    )


def settings_of(args: argparse.Namespace) -> "Settings":
    """The settings of a run. Raises `Trouble`."""
    from extensor_conformance.report.document import NotAReport, read_report
    from extensor_conformance.settings import Settings, new_seed

    fixture = fixture_of(args)
    guard(args, fixture.config)
    if args.baseline is not None:
        try:
            read_report(args.baseline)
        except NotAReport as error:
            raise Trouble(str(error)) from None
    if args.old_types is not None and not (args.old_types / "index.json").is_file():
        raise Trouble(f"{args.old_types} holds no index.json")
    if args.rate_limit is not None and args.rate_limit <= 0:
        raise Trouble("--rate-limit is a number above 0")
    seed = DETERMINISTIC_SEED if args.deterministic else args.seed
    return Settings(
        subject=subject_of(args, fixture),
        fixture=fixture,
        seed=new_seed() if seed is None else seed,
        checks=listed(args.checks),
        exclude=listed(args.exclude_checks),
        types=listed(args.type),
        level=args.level or 4,
        requirements=args.requirements,
        read_only=args.read_only,
        max_examples=args.max_examples,
        shrink=not args.no_shrink,
        shrink_budget=args.shrink_budget,
        repeat=args.repeat,
        workers=args.workers,
        timeout=args.timeout,
        start_timeout=args.start_timeout,
        budget=args.budget,
        rate_limit=args.rate_limit,
        max_failures=args.max_failures,
        retries=args.retries,
        allow_kill=args.allow_kill,
        probe=args.probe or (),
        faults=args.faults,
        strict=args.strict,
        waivers=waivers_of(args.expected_failures),
        folder=args.folder,
        name_prefix=args.name_prefix,
        keep_resources=args.keep_resources,
        baseline=args.baseline,
        old_types=args.old_types,
    )


def policy_of(args: argparse.Namespace) -> Policy:
    """What the command line asks of the run."""
    part = bool(args.checks or args.exclude_checks or args.read_only)
    asked = 0 if part else (args.level or 4)
    required = asked if args.require_level is None else args.require_level
    return Policy(args.strict, required, args.min_tested)


def waivers_of(path: Path | None) -> "tuple[Waiver, ...]":
    """The waivers of a file. Raises `Trouble`."""
    from extensor_conformance.fixture import FixtureError, load_fixture

    try:
        return load_fixture(path).waivers
    except FixtureError as error:
        raise Trouble(str(error)) from None


def guard(args: argparse.Namespace, config: Json) -> None:
    """Refuse a configuration that points away from this machine, unless it is said to be no production."""
    if args.yes_this_is_not_production or args.read_only:
        return
    for host in _hosts(config):
        raise Trouble(
            f"the configuration names {host!r}, and a run creates and deletes things there; add "
            "--yes-this-is-not-production when that is so, or --read-only"
        )


def last_report(folder: Path) -> Path:
    """Where the last run's report is kept."""
    return folder / LAST


def enriched(settings: "Settings") -> dict[str, Json]:
    """What a report tells of the settings beyond what the run does.

    The folder where it is not the usual one, the file, and where that speaks of each type.
    """
    usual = settings.folder is None or settings.folder == Path(DEFAULT_FOLDER)
    folder: dict[str, Json] = {} if usual else {"folder": str(settings.folder)}
    source = settings.fixture.source
    if source is None:
        return folder
    lines: dict[str, Json] = {}
    text = source.read_text("utf-8", errors="replace").splitlines() if source.is_file() else []
    for index, line in enumerate(text, 1):
        if line.startswith("[types."):
            lines[line.removeprefix("[types.").rstrip("] ").strip("\"'")] = index
    return {**folder, "fixture": str(source), "fixtureLines": lines}


def without_seed(settings: "Settings", seed: int) -> "Settings":
    """The same with another seed."""
    return replace(settings, seed=seed)


def _hosts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _hosts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _hosts(item)
    elif isinstance(value, str) and "://" in value:
        try:
            host = urlsplit(value).hostname
        except ValueError:
            return
        if host and not _near(host):
            yield host


def _near(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(_NEAR) or host == "0.0.0.0"  # noqa: S104 - compared, not bound
