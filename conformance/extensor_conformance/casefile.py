"""Failing cases as files, which can be played again without the generator."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from extensor.contract import JsonObject
from extensor_conformance.canary import CANARY, Canaries
from extensor_conformance.case import Case
from extensor_conformance.verdicts import Outcome, Problem

FORMAT = 1
_MARKER_LENGTH = 12


class CaseFileError(ValueError):
    """A file that holds no case that this kit can read; the text says why."""


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A failing case as it was written."""

    path: Path
    case: Case
    """Made small; its own `check` is the one whose case it was."""
    check: str
    """The id under which it failed: that of a monitor, when a monitor saw it."""
    verdict: str
    problems: tuple[Problem, ...]
    original: Case | None
    """As it was before it was made small."""
    data: JsonObject
    """The whole file: ``kit``, ``requirements``, ``seed``, ``subject``, ``wire``, ``fixture`` (digest), ``configKeys``,
    ``start`` (``command``, ``address``, ``cwd``, ``fixture``) and ``observed`` besides."""


def write_case(folder: Path, outcome: Outcome, facts: JsonObject) -> Path:
    """Write the failing case of an outcome and its transcript to `folder`; gives the case file's path.

    `facts`: ``kit``, ``seed``, ``subject``, ``start``, ``fixture`` (digest), ``configKeys``.
    """
    assert outcome.case is not None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_stem(outcome)}.json"
    data: JsonObject = {
        "format": FORMAT,
        **facts,
        "check": outcome.check,
        "type": outcome.type,
        "verdict": str(outcome.verdict),
        "tries": list(outcome.tries) if outcome.tries else None,
        "problems": [problem.to_json() for problem in outcome.problems],
        "case": outcome.case.to_json(),
        "original": outcome.original.to_json() if outcome.original else None,
        "observed": [entry.to_json() for entry in outcome.transcript],
    }
    text = json.dumps(data, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace")
    beside = path.with_suffix(".new")
    beside.write_bytes(text)
    beside.replace(path)
    return path


def _stem(outcome: Outcome) -> str:
    """The case's id; with the check's, where it failed under another than its own."""
    case = outcome.case
    assert case is not None
    return case.id if outcome.check == case.check else f"{case.id}-{outcome.check.lower()}"


def read_case(path: Path) -> CaseFile:
    """Read a case file. Raises `CaseFileError`."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise CaseFileError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CaseFileError(f"{path}: not a case file of format {FORMAT}")
    try:
        case = Case.from_json(data["case"])
        return CaseFile(
            path,
            case,
            str(data.get("check", case.check)),
            str(data.get("verdict", "FAIL")),
            tuple(Problem.from_json(item) for item in data.get("problems", ())),
            Case.from_json(data["original"]) if data.get("original") else None,
            data,
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise CaseFileError(f"{path}: the case cannot be read: {error!r}") from error


def case_files(folder: Path) -> Iterator[CaseFile]:
    """The case files of a folder by name; those that cannot be read are passed over."""
    for path in sorted(folder.glob("*.json")):
        try:
            yield read_case(path)
        except CaseFileError:
            continue


def find_cases(folder: Path, wanted: str) -> list[CaseFile]:
    """Case files by the path of one, by id (``k7m2q``), or by the id of the check that failed.

    Raises `CaseFileError` when there is none, or the file at that path cannot be read.
    """
    path = Path(wanted)
    if path.suffix == ".json" or path.is_file():
        return [read_case(path)]
    found = [file for file in case_files(folder) if wanted.lower() in (file.case.id.lower(), file.check.lower())]
    if not found:
        raise CaseFileError(f"{folder} has no case {wanted}")
    return found


def known_cases(folder: Path) -> list[Case]:
    """The failing cases of earlier runs in a folder, each once; files that cannot be read are passed over."""
    return list({file.case.id: file.case for file in case_files(folder)}.values())


def forget_case(folder: Path, case_id: str) -> None:
    """A known case no longer fails: its files go."""
    for pattern in (f"{case_id}.json", f"{case_id}-*.json"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def adopted(case: Case, canaries: Canaries) -> Case:
    """A case of an earlier run with the canaries of this one, which the monitors look for."""
    text = json.dumps(case.to_json(), ensure_ascii=False)
    changed = CANARY.sub(lambda match: canaries.marker + match.group()[_MARKER_LENGTH:], text)
    return case if changed == text else Case.from_json(json.loads(changed))
