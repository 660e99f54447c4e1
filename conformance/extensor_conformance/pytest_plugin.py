"""The kit inside pytest: ``pytest --provider-conformance "python -m my_provider"``, one item for each check and type.

The checks are played in one run when the first item is; each item then tells its own verdict. FAIL, FLAKY, ERROR, a
stale waiver and a core check that was not tested fail; a waived failure is an xfail; what does not apply is skipped.
With pytest-xdist one worker has all of these items, or the run would be played once in each.
Importing this costs next to nothing, so that it may be loaded by every pytest.
"""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from extensor_conformance.check import Check
    from extensor_conformance.provider import Provider
    from extensor_conformance.report.model import Report
    from extensor_conformance.settings import Settings
    from extensor_conformance.verdicts import Outcome

OPTION = "--provider-conformance"
_NAME = "provider-conformance"
_SEED, _TOLD = "provider_conformance_seed", "provider_conformance_summary"
_WHOLE = ("loadscope", "loadfile")
"""The ways of pytest-xdist to share items that leave ours together."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup(_NAME, "conformance of an infrastructure provider")
    group.addoption(OPTION, metavar="CMD", help="start this provider and play the conformance checks on it")
    group.addoption(
        f"{OPTION}-options",
        metavar="FLAGS",
        default="",
        help='flags as `provider-conformance run` takes them: "--level 2 --seed 7 --config conformance.toml"',
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest only when it is asked for."""
    command = config.getoption(OPTION)
    if command:
        _require_extra()
        _require_one_worker(config)
        flags = str(config.getoption(f"{OPTION}-options"))
        plugin = ConformancePlugin(str(command), flags)
        handed = getattr(config, "workerinput", {}).get(_SEED)  # this process is a worker of pytest-xdist
        if handed is not None:
            plugin.settings = plugin.settings.with_(seed=handed)
        config.pluginmanager.register(plugin, f"{_NAME} run")


def _require_extra() -> None:
    """Raises `pytest.UsageError` when what makes the inputs is not installed."""
    from extensor_conformance.extras import missing_extra

    missing = missing_extra()
    if missing is not None:
        raise pytest.UsageError(f"{OPTION}: {missing}")


def _require_one_worker(config: pytest.Config) -> None:
    """Raises `pytest.UsageError` where the items would be spread over workers, each of which would play the run."""
    shared = config.getoption("dist", "no")
    if shared not in ("no", *_WHOLE):
        raise pytest.UsageError(
            f"{OPTION}: all checks are played in one run, which --dist {shared} would repeat in each worker; "
            f"use --dist {' or '.join(_WHOLE)}, or -n 0"
        )


class NotConforming(Exception):
    """Ends an item: the outcomes that are not good, and the report they belong to."""

    def __init__(self, report: "Report", outcomes: "list[Outcome]") -> None:
        self.report = report
        self.outcomes = outcomes
        super().__init__(", ".join(f"{outcome.check} {outcome.verdict}" for outcome in outcomes))


class ConformancePlugin:
    """Makes the items, plays the run once, and sums it up."""

    def __init__(self, command: str, flags: str) -> None:
        self.settings = settings_from(command, flags)
        self._report: Report | None = None
        self._summary: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Let each worker of pytest-xdist have the seed that the header tells."""
        node.workerinput[_SEED] = self.settings.seed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what the worker that played the run has to say."""
        self._summary += getattr(node, "workeroutput", {}).get(_TOLD, ())

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Sum the run up, in a worker of pytest-xdist for the process that waits for it."""
        self._summary += self._told()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_TOLD] = self._summary

    def pytest_report_header(self) -> str:
        """The seed, before anything can go wrong."""
        return f"provider-conformance: {self.settings.subject.title}, seed {self.settings.seed}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add an item for each check and type to those that were collected."""
        parent = ConformanceCollector.from_parent(session, name=_NAME, nodeid=_NAME)
        parent.plugin = self
        items.extend(parent.collect())

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Play only what is left after ``-k`` and ``-m``."""
        chosen = [item for item in session.items if isinstance(item, ConformanceItem)]
        ids = tuple(dict.fromkeys(item.check for item in chosen))
        types = tuple(dict.fromkeys(item.type for item in chosen if item.type is not None))
        whole = any(item.type is None for item in chosen)
        self.settings = self.settings.with_(checks=ids, types=self.settings.types if whole else types)

    def report(self) -> "Report":
        """The run's report; plays it when that has not been done."""
        from extensor_conformance.canary import Needles
        from extensor_conformance.report.masking import masked
        from extensor_conformance.runner import Run

        if self._report is None:
            self._report = masked(Run(self.settings).execute(), Needles(self.settings.fixture.secrets))
        if self._report.interrupted:
            raise KeyboardInterrupt
        return self._report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Seed, level, and what is left behind."""
        if self._summary:
            terminalreporter.section(_NAME)
        for line in self._summary:
            terminalreporter.write_line(line)

    def _told(self) -> list[str]:
        from extensor_conformance.report.grouping import result_text

        report = self._report
        if report is None:
            return []
        left = [f"left behind: {item.type} {item.identifiers}: {item.reason}" for item in report.leftovers]
        return [f"seed {report.seed}: {result_text(report)}", *left, *report.kit_faults]

    def cells(self) -> "Iterator[tuple[str, str | None]]":
        """Check ids with the types that they are played on, ``None`` for the provider as a whole."""
        from extensor_conformance.catalogue import chosen, load
        from extensor_conformance.check import load_checks

        provider, checks = provider_of(self.settings), load_checks()
        settings = self.settings
        for row in chosen(load(settings.requirements).values(), settings.checks, settings.exclude, settings.level):
            check = checks.get(row.id)
            if check is not None and _by_type(check) and provider.kinds:
                for name in provider.kinds:
                    yield row.id, name
            else:
                yield row.id, None


class ConformanceCollector(pytest.Collector):
    """The parent of all items."""

    plugin: ConformancePlugin

    def collect(self) -> "list[ConformanceItem]":
        """An item for each check and type."""
        made: list[ConformanceItem] = []
        for check, type_ in self.plugin.cells():
            name = check if type_ is None else f"{check}[{type_}]"
            item = ConformanceItem.from_parent(self, name=name)
            item.plugin, item.check, item.type = self.plugin, check, type_
            if self.config.pluginmanager.has_plugin("timeout"):
                item.add_marker(pytest.mark.timeout(0))  # the first item plays the run, which has a budget of its own
            made.append(item)
        return made


class ConformanceItem(pytest.Item):
    """One check on one type, or on the provider as a whole."""

    plugin: ConformancePlugin
    check: str
    type: str | None

    def runtest(self) -> None:
        """Tell the verdict."""
        from extensor_conformance.report.document import requirement_of
        from extensor_conformance.verdicts import Verdict

        report = self.plugin.report()
        own = [outcome for outcome in report.outcomes if outcome.check == self.check]
        if self.type is not None:
            own = [item for item in own if item.type == self.type] or [item for item in own if item.type is None]
        row = requirement_of(report, self.check)
        core = row is None or row.core
        bad = [item for item in own if item.verdict.red or (core and item.verdict is Verdict.NOT_TESTED)]
        if bad or not own:
            raise NotConforming(report, bad)
        for outcome in own:
            if outcome.verdict is Verdict.WARN:
                self.add_report_section("call", "conformance", _told(report, outcome))
        for verdict, end in ((Verdict.XFAIL, pytest.xfail), (Verdict.NOT_TESTED, pytest.skip)):
            reasons = [item.reason or str(verdict) for item in own if item.verdict is verdict]
            if reasons:
                end(f"{verdict}: {reasons[0]}")
        if all(item.verdict is Verdict.NOT_APPLICABLE for item in own):
            pytest.skip(f"{Verdict.NOT_APPLICABLE}: {own[0].reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # pyright: ignore[reportIncompatibleMethodOverride] - the style is for tracebacks
        """The problems, the steps, and how to see them again."""
        error = excinfo.value
        if not isinstance(error, NotConforming):
            return str(super().repr_failure(excinfo))
        return "\n\n".join(_told(error.report, outcome) for outcome in error.outcomes) or "it was not played"

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Where pytest says that the item is."""
        return _NAME, None, self.name


def settings_from(command: str, flags: str) -> "Settings":
    """The settings of a command line and flags. Raises `pytest.UsageError`."""
    from extensor_conformance.cli.command import Trouble
    from extensor_conformance.cli.command_line import UsageError, build_parser
    from extensor_conformance.cli.settings_of import settings_of

    try:
        args = build_parser().parse_args(["run", *shlex.split(flags)])
        args.command = tuple(shlex.split(command))
        return settings_of(args)
    except (UsageError, Trouble, ValueError) as error:
        raise pytest.UsageError(f"{OPTION}: {error}") from None


def provider_of(settings: "Settings") -> "Provider":
    """The provider's types, asked for once before the run. Raises `pytest.UsageError`."""
    from extensor_conformance.cli.command import Trouble
    from extensor_conformance.cli.provider_bench import provider_bench
    from extensor_conformance.provider import ConfigurationMissing, require_config

    try:
        with provider_bench(settings) as (_, provider):
            require_config(provider, settings.fixture)
            return provider
    except (Trouble, ConfigurationMissing) as error:
        raise pytest.UsageError(f"{OPTION}: {error}") from None


def _by_type(check: "Check") -> bool:
    from extensor_conformance.check import Passive
    from extensor_conformance.monitors import MONITORED

    return check.scope == "type" and not isinstance(check, Passive) and check.id not in MONITORED


def _told(report: "Report", outcome: "Outcome") -> str:
    from extensor_conformance.report.grouping import title_of
    from extensor_conformance.report.junit import details

    head = (
        f"{outcome.verdict} {outcome.check} {title_of(report, outcome)}{f' on {outcome.type}' if outcome.type else ''}"
    )
    return f"{head}\n{details(report, outcome)}"
