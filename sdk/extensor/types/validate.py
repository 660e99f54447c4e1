"""Checking a body against its type: every fault, each with its exact path, for the price of a few look-ups."""

from typing import Literal, TypeAlias

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path
from extensor.types import model
from extensor.types.checks import check_of
from extensor.types.findings import Check, Mode

Purpose: TypeAlias = Literal[
    "save", "preview_save", "get", "delete", "config", "preview_config", "result", "preview_result"
]
"""What a body is for. Those of a preview may hold `Unknown` anywhere."""

_MODES: dict[str, Mode] = {
    "save": Mode(given=True, unknown=False),
    "config": Mode(given=True, unknown=False),
    "preview_save": Mode(given=True, unknown=True),
    "preview_config": Mode(given=True, unknown=True),
    "get": Mode(given=True, unknown=False, naming=True),
    "delete": Mode(given=True, unknown=False, naming=True),
    "result": Mode(given=False, unknown=False),
    "preview_result": Mode(given=False, unknown=True),
}

_FITS = {purpose: f"fits for {purpose}" for purpose, mode in _MODES.items() if not mode.naming}

OFTEN = 8
"""So many bodies of a type are checked before code is made for it: a short life does not pay for that."""


def surely_fits(properties: Json, type_: model.ResourceType | model.Body, *, purpose: Purpose) -> bool:
    """Whether a body has no faults and no null where its type describes properties; ``False`` says nothing.

    For types that are asked about often this takes about half the time of `validate`.
    """
    key = _FITS.get(purpose)
    if key is None:
        return False
    body = type_.body if isinstance(type_, model.ResourceType) else type_
    known = body.facts.get(key, 0)
    if type(known) is int:
        if known < OFTEN:
            body.facts[key] = known + 1
            return False
        from extensor.types.fits import fits_of

        known = body.facts[key] = fits_of(body, _MODES[purpose])
    try:
        return known(properties)
    except RecursionError:
        return False


def validate(
    properties: Json,
    type_: model.ResourceType | model.Body,
    *,
    purpose: Purpose,
    path: Path = ("properties",),
) -> list[Fault]:
    """Every fault of a decoded body, in the order of the document, what is missing after what is there.

    - ``save``, ``config`` and their previews: required properties are there, read-only ones are not, all else fits
      its type.
    - ``get``, ``delete``: identifier properties alone are looked at, nested ones too; of the others nothing is asked
      but that they are known.
    - ``result``, ``preview_result``: as the provider shows it, read-only properties included and write-only ones left
      out.

    Property names are exact. Null stands for a property that is not given, unless it is required. Codes:
    ``MissingProperty``, ``UnknownProperty``, ``ReadOnlyProperty``, ``InvalidProperty``, ``UnknownValueNotAllowed``.
    No message quotes a given value. `path` is where the body stands in its document.
    """
    body = type_.body if isinstance(type_, model.ResourceType) else type_
    check: Check | None = body.facts.get(purpose)
    if check is None:
        check = body.facts[purpose] = check_of(body, _MODES[purpose])
    try:
        found = check(properties)
    except RecursionError:
        return [Fault(ErrorCode.INVALID_PROPERTY, "is nested too deeply", format_path(path))]
    if found is None:
        return []
    return [Fault(code, message, format_path((*path, *reversed(steps)))) for code, message, steps in found]
