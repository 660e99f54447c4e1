"""Each mutant is caught by the check that is named for it, at the expected path or step."""

from collections.abc import Callable

import pytest

PREVIEW = [
    ("M20", "PRV-01", "$.properties", "get absent"),
    ("M20-update", "PRV-01", "$.properties", "get neighbour"),
    ("M21", "PRV-01", "$.properties.serial", "save 4"),
    ("M23", "PRV-02", "$.properties.color", "save"),
    ("other-default-in-preview", "PRV-02", "$.properties.spec.depth", "save"),
    ("forgets-what-is-there", "PRV-03", "$.properties", "save"),
    ("M25", "PRV-04", "$.properties.revision", "preview"),
    ("lax-preview", "PRV-05", "$.properties", "preview"),
    ("other-code-in-preview", "PRV-05", "$.properties", "preview"),
    ("preview-refuses-labels", "PRV-05", "$.properties.label", "preview"),
    ("immutable-unseen", "PRV-05", "$.properties", "preview"),
    ("M26", "PRV-06", "$.properties", "unknown"),
    ("M27", "PRV-07", "$.properties.spec.ports[", "unknown"),
    ("nulls-unknown", "PRV-07", "$.properties", "unknown"),
    ("drops-expressions", "PRV-07", "$.properties", "unknown"),
    ("M29", "PRV-08", "$.properties", "save"),
    ("M30", "PRV-08", "$.properties", "save"),
    ("M31", "PRV-09", "$.identifiers.name", "unknown"),
    ("guesses-config-id", "PRV-09", "$.configId", "unknown"),
    ("unknown-name-is-invalid", "PRV-09", "$.properties.name", "unknown"),
    ("M32", "PRV-10", "$.properties", "unknown"),
    ("unknown-elsewhere", "PRV-10", "$.properties", "unknown"),
    ("metadata-pointers", "PRV-11", "$.metadata.unknown", "preview 1"),
    ("metadata-nowhere", "PRV-11", "$.properties.nowhere", "preview 1"),
    ("metadata-twice", "PRV-11", "$.properties.name", "preview 1"),
    ("metadata-against-type", "PRV-11", "$.properties.name", "preview 1"),
    ("previews-differ", "PRV-11", "$.properties", "preview 2"),
    ("M34", "PRV-12", "$.properties", "preview 1"),
]
IDEMPOTENCY = [
    ("M35", "IDM-01", "$.properties", "gone"),
    ("repeat-refused", "IDM-01", None, "save 2"),
    ("repeat-differs", "IDM-01", "$.properties.revision", "save"),
    ("other-name-again", "IDM-01", "$.identifiers.name", "save 2"),
    ("M37", "IDM-02", "$.properties", "get 2"),
    ("M22", "IDM-03", "$.properties", "get 2"),
    ("counts-reads", "IDM-03", "$.properties.revision", "get"),
    ("M39", "IDM-04", "$.properties.spec.ports", None),
    ("keeps-labels", "IDM-04", "$.properties.spec.labels", None),
    ("clears-absent", "IDM-04", "$.properties", "part"),
    ("M40", "IDM-05", "$.properties.label", "again"),
    ("immutable-changes", "IDM-06", "$.properties", "conflict"),
    ("folds-case", "IDM-07", None, "get first"),
    ("folds-separators", "IDM-07", None, "get first"),
    ("M43", "IDM-08", "$.properties", "gone"),
    ("M44", "IDM-09", "$.properties", "get drift"),
    ("M45", "IDM-10", "$.properties", "get absent"),
    ("memory-only", "IDM-11", "$.properties", "get"),
]
DELETION = [
    ("deletes-nothing", "DEL-01", "$.properties", "gone"),
    ("M47", "DEL-01", "$.properties", "world"),
    ("M48", "DEL-02", None, "delete 2"),
    ("absent-is-error", "DEL-03", None, "absent"),
    ("malformed-is-deleted", "DEL-03", "$.properties.name", "wrong"),
    ("M50", "DEL-04", "$.identifiers", "get longer"),
    ("config-id-ignored", "DEL-05", "$.import.configId", "wrong"),
    ("M52", "DEL-06", "$.properties", "get"),
    ("failure-swallowed", "DEL-06", "$.properties", "delete"),
    ("reborn-with-old-values", "DEL-07", "$.properties", "reborn"),
    ("reborn-with-old-serial", "DEL-07", "$.properties.label", None),
]


@pytest.mark.parametrize(
    ("mutant", "check", "path", "step"),
    [pytest.param(*row, id=f"{row[1]}-{row[0]}") for row in (*PREVIEW, *IDEMPOTENCY, *DELETION)],
)
def test_the_named_check_catches_the_mutant(
    mutant: str,
    check: str,
    path: str | None,
    step: str | None,
    truth: Callable[..., list[object]],
    caught: Callable[..., bool],
    told: Callable[..., str],
) -> None:
    """At the place and in the step where it shows."""
    outcomes = truth(check, mutant)
    assert caught(outcomes, path, step), told(outcomes)
