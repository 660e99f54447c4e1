"""The JSON documents, and the ends of runs as text."""

import io

import pytest

from extensor.cli.console import Console
from extensor.cli.documents import deploy_document, destroy_document, errors_document, show_document, what_if_document
from extensor.cli.exits import Exit
from extensor.cli.run_text import deploy_text, destroy_text, exit_of, show_text, tell_errors
from extensor.contract import Fault, Unknown
from extensor.engine.results import (
    Change,
    DeployResult,
    DestroyResult,
    OutputValue,
    PropertyChange,
    RecordView,
    ResourceFault,
    ResourceOutcome,
    StackView,
    WhatIfResult,
)

REFUSED = Fault("InvalidProperty", "must not be empty", "$.properties.name")
SAVED = ResourceOutcome("web", "note@1.0", {"name": "web"}, "Saved", seconds=0.12345)
FAILED = ResourceOutcome("db", "note@1.0", {}, "Failed", (REFUSED,), seconds=1)
SKIPPED = ResourceOutcome("app", "note@1.0", {}, "Skipped", reason="db failed")


def test_a_preview_is_one_object_with_unknowns_as_the_protocol_writes_them() -> None:
    changes = (
        Change(
            "Modify",
            "web",
            "note@1.0",
            {"name": "web"},
            (
                PropertyChange("$.properties.text", "Modify", "a", Unknown("[reference('x').y]")),
                PropertyChange("$.properties.map", "Create", None, {"$unknown": 1}),
            ),
        ),
        Change("Unsupported", "late", "note@1.0", {}, (), "no identifiers yet"),
    )
    assert what_if_document(
        WhatIfResult(changes, 3, (ResourceFault("db", REFUSED),), (("web", "$.properties.pin"),))
    ) == {
        "status": "Failed",
        "changes": [
            {
                "changeType": "Modify",
                "symbolicName": "web",
                "type": "note@1.0",
                "identifiers": {"name": "web"},
                "delta": [
                    {
                        "path": "$.properties.text",
                        "changeType": "Modify",
                        "before": "a",
                        "after": {"$unknown": {"expression": "[reference('x').y]"}},
                    },
                    {"path": "$.properties.map", "changeType": "Create", "before": None, "after": {"$$unknown": 1}},
                ],
            },
            {
                "changeType": "Unsupported",
                "symbolicName": "late",
                "type": "note@1.0",
                "identifiers": {},
                "delta": [],
                "reason": "no identifiers yet",
            },
        ],
        "unchanged": 3,
        "notCompared": [{"symbolicName": "web", "path": "$.properties.pin"}],
        "errors": [
            {
                "symbolicName": "db",
                "path": "$.properties.name",
                "code": "InvalidProperty",
                "message": "must not be empty",
            }
        ],
    }


def test_a_deployment_is_one_object() -> None:
    result = DeployResult(
        "Failed",
        "d1",
        (SAVED, FAILED, SKIPPED),
        {"words": OutputValue("int", 3)},
        (ResourceFault(None, Fault("InvalidTemplate", "broken", "$.outputs.x")),),
    )
    assert deploy_document(result) == {
        "status": "Failed",
        "deploymentId": "d1",
        "resources": [
            {
                "symbolicName": "web",
                "type": "note@1.0",
                "identifiers": {"name": "web"},
                "status": "Saved",
                "seconds": 0.123,
            },
            {
                "symbolicName": "db",
                "type": "note@1.0",
                "identifiers": {},
                "status": "Failed",
                "seconds": 1,
                "errors": [REFUSED.to_wire()],
            },
            {
                "symbolicName": "app",
                "type": "note@1.0",
                "identifiers": {},
                "status": "Skipped",
                "seconds": 0.0,
                "reason": "db failed",
            },
        ],
        "outputs": {"words": {"type": "int", "value": 3}},
        "errors": [{"path": "$.outputs.x", "code": "InvalidTemplate", "message": "broken"}],
    }


def test_a_destruction_and_a_bare_failure_are_objects_of_the_same_kind() -> None:
    assert destroy_document(DestroyResult("Succeeded", "d2", ())) == {
        "status": "Succeeded",
        "deploymentId": "d2",
        "resources": [],
        "errors": [],
    }
    assert errors_document([REFUSED]) == {"status": "Failed", "errors": [REFUSED.to_wire()]}


def test_the_end_of_a_deployment_counts_and_shows_outputs() -> None:
    outputs = {"url": OutputValue("string", "http://x"), "ids": OutputValue("array", ["a" * 40, "b" * 40])}
    assert (
        deploy_text(DeployResult("Succeeded", "d", (SAVED,), outputs), 1.26)
        == f"""\
Outputs:
  url: "http://x"
  ids: [
    0: "{"a" * 40}"
    1: "{"b" * 40}"
  ]

Deployed: 1 saved, in 1.3 s."""
    )
    assert deploy_text(DeployResult("Failed", "d", (SAVED, FAILED, SKIPPED)), 2) == (
        "Not deployed: 1 saved, 1 failed, 1 skipped, in 2.0 s."
    )
    assert destroy_text(DestroyResult("Canceled", "d", ()), 0) == "Interrupted: nothing to do, in 0.0 s."


def test_every_fault_is_told_once_with_its_place() -> None:
    err = io.StringIO()
    bare = Fault("ProviderExited", "provider x exited with code 3; the end of its stderr:\nboom\x1b[0m")
    placed = [Fault("Bad", "no", path) for path in ("$.resources.db.type", "$.resources.pages.properties.x")]
    told = (ResourceFault("db", REFUSED), ResourceFault("db", REFUSED), ResourceFault(None, bare))
    elsewhere = (ResourceFault("db", placed[0]), ResourceFault("pages[3]", placed[1]))
    tell_errors(Console(io.StringIO(), err, {}), "it failed", (*elsewhere, *told))
    assert err.getvalue() == (
        "error: it failed\n"
        "  resources.db.type: no (Bad)\n"
        "  pages[3]: resources.pages.properties.x: no (Bad)\n"
        "  db: name: must not be empty (InvalidProperty)\n"
        "  provider x exited with code 3; the end of its stderr:\n    boom\\x1b[0m (ProviderExited)\n"
    )


def test_no_fault_no_word() -> None:
    err = io.StringIO()
    tell_errors(Console(io.StringIO(), err, {}), "it failed", ())
    assert err.getvalue() == ""


@pytest.mark.parametrize("verbose", [False, True])
def test_an_unexpected_error_says_where_its_details_are_until_they_are_shown(verbose: bool) -> None:
    err = io.StringIO()
    odd = Fault("InternalError", "something unexpected happened; its log has the details under 1f")
    tell_errors(Console(io.StringIO(), err, {}), "it failed", (ResourceFault("db", odd),), verbose=verbose)
    assert ("run again with --verbose" in err.getvalue()) is not verbose


def test_a_record_takes_one_line_whatever_its_note_says() -> None:
    view = RecordView("web", "note@1.0", {}, "notes", "Failed", "a\nb\r\nc", "2030-01-01T00:00:01.000Z")
    text = show_text(StackView("main", "Failed", "deploy", None, None, (view,)))
    assert "\n  web  note@1.0    [Failed: a b c]\n" in text


@pytest.mark.parametrize(
    ("status", "code"), [("Succeeded", Exit.OK), ("Failed", Exit.FAILED), ("Canceled", Exit.INTERRUPTED)]
)
def test_the_exit_code_says_how_a_run_ended(status: str, code: Exit) -> None:
    assert exit_of(status) is code


def test_a_record_is_shown_with_what_is_unsettled() -> None:
    view = StackView(
        "main",
        "Interrupted",
        "deploy",
        "2030-01-01T00:00:00.000Z",
        None,
        (
            RecordView("web", "note@1.0", {"name": "web"}, "notes", "Saved", None, "2030-01-01T00:00:01.000Z"),
            RecordView("longer", "x/y@1", {}, "notes", "Saving", "no answer yet", "2030-01-01T00:00:01.000Z"),
        ),
    )
    assert (
        show_text(view)
        == """\
Stack main: last deploy was cut off with its process, run it again to finish, begun 2030-01-01T00:00:00.000Z

  web     note@1.0  name: "web"
  longer  x/y@1       [Saving: no answer yet]

2 resources, 1 of them unsettled: deploy again to settle them."""
    )
    document = show_document(view)
    assert document["status"] == "Interrupted"
    assert document["resources"][1] == {
        "symbolicName": "longer",
        "type": "x/y@1",
        "identifiers": {},
        "provider": "notes",
        "status": "Saving",
        "updated": "2030-01-01T00:00:01.000Z",
        "note": "no answer yet",
    }


def test_an_empty_record_says_so() -> None:
    assert show_text(StackView("x", "Empty", None, None, None, ())) == (
        "Stack x: nothing was ever recorded under this name\nIt holds no resource."
    )
