"""Failing cases as files, which can be played again without the generator."""

import json
from pathlib import Path

from extensor.contract import JsonObject
from extensor_conformance.case import Case
from extensor_conformance.verdicts import Outcome

FORMAT = 1


def write_case(folder: Path, outcome: Outcome, facts: JsonObject) -> Path:
    """Write the failing case of an outcome and its transcript to `folder`; gives the case file's path.

    `facts`: ``kit``, ``seed``, ``subject``, ``provider``, ``fixture`` (digest), ``configKeys``.
    """
    assert outcome.case is not None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.case.id}.json"
    data: JsonObject = {
        "format": FORMAT,
        **facts,
        "verdict": str(outcome.verdict),
        "problems": [problem.to_json() for problem in outcome.problems],
        "case": outcome.case.to_json(),
        "original": outcome.original.to_json() if outcome.original else None,
        "observed": [entry.to_json() for entry in outcome.transcript],
    }
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
    return path


def known_cases(folder: Path) -> list[Case]:
    """The failing cases of earlier runs in a folder; files that cannot be read are passed over."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(Case.from_json(json.loads(path.read_text("utf-8"))["case"]))
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return found


def forget_case(folder: Path, case_id: str) -> None:
    """A known case no longer fails: its files go."""
    for path in folder.glob(f"{case_id}.*"):
        path.unlink()
