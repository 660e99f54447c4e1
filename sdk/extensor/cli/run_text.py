"""How a deployment or destruction ended, and what a stack holds, as text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from extensor.cli.console import Console, printable
from extensor.cli.exits import Exit
from extensor.cli.failures import fault_lines
from extensor.cli.values import block, count, identity
from extensor.contract import ErrorCode, Fault
from extensor.engine.results import (
    DeployResult,
    DestroyResult,
    OutcomeStatus,
    OutputValue,
    ResourceFault,
    ResourceOutcome,
    StackView,
)

_WORDS: dict[OutcomeStatus, str] = {
    "Saved": "saved",
    "Read": "read",
    "Deleted": "deleted",
    "Failed": "failed",
    "Unclear": "unclear",
    "Skipped": "skipped",
    "Canceled": "not done",
}

_STANDINGS = {
    "Succeeded": "succeeded",
    "Failed": "failed",
    "Canceled": "was stopped before its end",
    "Running": "is running",
    "Interrupted": "was cut off with its process, run it again to finish",
}


def deploy_text(result: DeployResult, seconds: float) -> str:
    """The outputs, and one line that counts."""
    lines = _outputs(result.outputs)
    lines.append(_ending("deployed", result.status, result.resources, seconds))
    return "\n".join(lines)


def destroy_text(result: DestroyResult, seconds: float) -> str:
    """One line that counts."""
    return _ending("destroyed", result.status, result.resources, seconds)


def tell_errors(console: Console, headline: str, errors: Sequence[ResourceFault], *, verbose: bool = False) -> None:
    """Write every fault of a run to stderr, each once and with the resource it belongs to; the headline first."""
    lines: dict[str, None] = {}
    for item in errors:
        lines.update(dict.fromkeys(fault_lines((item.fault,), item.symbolic_name)))
    if lines:
        console.line(f"{console.paint('error:', 'red')} {headline}")
    for line in lines:
        console.line(line)
    if any(line.endswith(" (ProviderNotFound)") for line in lines):
        console.line("Say how a provider is started with: --provider NAME=COMMAND")
    if hint := verbose_hint((item.fault for item in errors), verbose=verbose):
        console.line(hint)


def verbose_hint(faults: Iterable[Fault], *, verbose: bool) -> str:
    """Where the details of an unexpected error are, for who has not asked for them yet; else nothing."""
    if verbose or not any(fault.code == ErrorCode.INTERNAL_ERROR for fault in faults):
        return ""
    return "The provider's log has the details: run again with --verbose"


def exit_of(status: str) -> Exit:
    """The exit code for how a run ended."""
    return {"Succeeded": Exit.OK, "Canceled": Exit.INTERRUPTED}.get(status, Exit.FAILED)


def show_text(view: StackView) -> str:
    """The record of a stack: its last run, then a line a resource."""
    lines = [f"Stack {view.stack}: {_standing(view)}"]
    if not view.resources:
        return "\n".join([*lines, "It holds no resource."])
    rows = [(record.symbolic_name, record.type, identity(record.identifiers)) for record in view.resources]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines.append("")
    for record, (name, kind, where) in zip(view.resources, rows, strict=True):
        note = f": {' '.join(record.note.split())}" if record.note else ""
        mark = "" if record.status == "Saved" else f"  [{record.status}{note}]"
        lines.append(printable(f"  {name:<{wide[0]}}  {kind:<{wide[1]}}  {where}{mark}".rstrip()))
    odd = sum(record.status != "Saved" for record in view.resources)
    unsettled = f", {odd} of them unsettled: deploy again to settle them" if odd else ""
    lines += ["", f"{count(len(view.resources), 'resource')}{unsettled}."]
    return "\n".join(lines)


def _standing(view: StackView) -> str:
    if view.status == "Empty":
        return "nothing was ever recorded under this name"
    how = _STANDINGS.get(view.status, view.status)
    begun = f", begun {view.last_run_started}" if view.last_run_started else ""
    holder = f"; process {view.holder_pid} works on it" if view.holder_pid is not None else ""
    return f"last {view.last_run or 'run'} {how}{begun}{holder}"


def _outputs(outputs: Mapping[str, OutputValue]) -> list[str]:
    if not outputs:
        return []
    width = max(len(name) for name in outputs) + 1
    lines = ["Outputs:"]
    for name, output in outputs.items():
        first, *rest = block(output.value)
        lines += [f"  {f'{name}:':<{width}} {first}", *(f"  {line}" for line in rest)]
    return [*lines, ""]


def _ending(done: str, status: str, resources: Sequence[ResourceOutcome], seconds: float) -> str:
    counts = Counter(outcome.status for outcome in resources)
    told = ", ".join(f"{counts[kind]} {word}" for kind, word in _WORDS.items() if counts[kind])
    end = {"Succeeded": done.capitalize(), "Failed": f"Not {done}", "Canceled": "Interrupted"}[status]
    return f"{end}: {told or 'nothing to do'}, in {seconds:.1f} s."
