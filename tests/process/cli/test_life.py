"""A deployment's life through the command: preview, deploy, repeat, change, destroy."""

import json
import re
from typing import Any

import pytest

HELLO = {"type": "string", "defaultValue": "hello world"}


@pytest.fixture
def chain(stage: Any) -> Any:
    """Two notes, the second made from the first."""
    stage.template(
        {
            "first": stage.resource("note", name="first", text="[parameters('greeting')]"),
            "second": stage.resource("note", "first", name="second", text="[format('{0}!', reference('first').text)]"),
        },
        parameters={"greeting": HELLO},
        outputs={"words": {"type": "int", "value": "[reference('first').words]"}},
    )
    return stage


def test_what_is_deployed_is_previewed_repeated_changed_and_destroyed(chain: Any) -> None:
    assert chain.json("validate", "main.json") == {"status": "Succeeded", "errors": []}

    preview = chain.json("what-if", "main.json")
    assert [(c["symbolicName"], c["changeType"], c["identifiers"]) for c in preview["changes"]] == [
        ("first", "Create", {"name": "first"}),
        ("second", "Create", {"name": "second"}),
    ]
    assert not list(chain.folder.glob("*.note.json"))
    assert not (chain.folder / ".extensor").exists()

    deployed = chain.json("deploy", "main.json")
    assert deployed["status"] == "Succeeded"
    assert deployed["errors"] == []
    assert deployed["outputs"] == {"words": {"type": "int", "value": 2}}
    assert {(r["symbolicName"], r["status"]) for r in deployed["resources"]} == {
        ("first", "Saved"),
        ("second", "Saved"),
    }

    again = chain.json("what-if", "main.json", "--exit-code")
    assert (again["changes"], again["unchanged"]) == ([], 2)

    changed = chain.json("what-if", "main.json", "-p", "greeting=good day", "--exit-code", code=2)
    (first, *_) = changed["changes"]
    assert (first["changeType"], first["delta"]) == (
        "Modify",
        [{"path": "$.properties.text", "changeType": "Modify", "before": "hello world", "after": "good day"}],
    )

    shown = chain.json("show", "main.json")
    assert (shown["stack"], shown["status"]) == ("main", "Succeeded")
    assert [r["symbolicName"] for r in shown["resources"]] == ["first", "second"]

    destroyed = chain.json("destroy", "main.json")
    assert [r["status"] for r in destroyed["resources"]] == ["Deleted", "Deleted"]
    assert not list(chain.folder.glob("*.note.json"))
    assert chain.json("show", "main.json")["resources"] == []


def test_what_was_edited_by_hand_or_is_named_no_more_is_a_change(chain: Any) -> None:
    chain.json("deploy", "main.json")
    body = {"name": "first", "text": "by hand", "key": None, "words": 2}
    (chain.folder / "first.note.json").write_text(json.dumps(body), "utf-8")
    chain.template({"kept": chain.resource("note", name="first", text="hello world")})
    preview = chain.json("what-if", "main.json", "--exit-code", code=2)
    assert [(c["changeType"], c["identifiers"]) for c in preview["changes"]] == [
        ("Modify", {"name": "first"}),
        ("Delete", {"name": "second"}),
    ]
    deployed = chain.json("deploy", "main.json")
    assert {(r["identifiers"]["name"], r["status"]) for r in deployed["resources"]} == {
        ("first", "Saved"),
        ("second", "Deleted"),
    }
    assert not (chain.folder / "second.note.json").exists()
    assert chain.json("what-if", "main.json", "--exit-code")["changes"] == []


@pytest.mark.reported("I05", "I12")
def test_a_label_that_a_deployment_removes_is_a_change_and_a_property_that_it_leaves_is_none(stage: Any) -> None:
    stage.template({"a": stage.resource("thing", name="a", labels={"own": "1", "app.io/x": "2"}, rules=[{"k": "v"}])})
    stage.json("deploy", "main.json")
    file = stage.folder / "a.thing.json"

    def there() -> dict[str, Any]:
        return json.loads(file.read_text("utf-8"))

    by_hand = there() | {"size": 5, "rules": [{"k": "v", "l": "w"}]}
    by_hand["labels"]["by hand"] = "3"
    file.write_text(json.dumps(by_hand), "utf-8")
    (change,) = stage.json("what-if", "main.json", "--exit-code", code=2)["changes"]
    assert change["delta"] == [
        {"path": "$.properties.labels['by hand']", "changeType": "Delete", "before": "3", "after": None},
        {"path": "$.properties.rules[0].l", "changeType": "Delete", "before": "w", "after": None},
    ]
    assert "\n    - labels['by hand']: \"3\"\n" in stage.run("what-if", "main.json").stdout
    stage.json("deploy", "main.json")
    assert there() == by_hand | {"labels": {"own": "1", "app.io/x": "2"}, "rules": [{"k": "v"}]}

    stage.template({"a": stage.resource("thing", name="a", labels={"own": "1"})})
    (change,) = stage.json("what-if", "main.json")["changes"]
    assert change["delta"] == [
        {"path": "$.properties.labels['app.io/x']", "changeType": "Delete", "before": "2", "after": None}
    ]
    stage.json("deploy", "main.json")
    assert there()["labels"] == {"own": "1"}
    assert stage.json("what-if", "main.json", "--exit-code")["changes"] == []


def test_a_pipe_gets_plain_text_with_results_and_progress_apart(chain: Any) -> None:
    what_if = chain.process("what-if", "main.json")
    assert (what_if.returncode, what_if.stderr) == (0, "")
    assert '\n  + first  note@1.0  name: "first"\n' in what_if.stdout
    assert "Resource changes: 2 to create." in what_if.stdout

    deploy = chain.process("deploy", "main.json")
    assert deploy.returncode == 0
    assert deploy.stdout.startswith("Outputs:\n  words: 2\n\nDeployed: 2 saved, in ")
    assert [line.partition(" saved")[0] for line in deploy.stderr.splitlines()] == [
        '* first (note@1.0, name: "first")',
        '* second (note@1.0, name: "second")',
    ]
    assert "\x1b" not in what_if.stdout + deploy.stdout + deploy.stderr

    assert "No change: all 2 resources are as the template says." in chain.run("what-if", "main.json").stdout
    assert 'first   note@1.0  name: "first"' in chain.run("show").stdout
    assert chain.run("destroy").stdout.startswith("Destroyed: 2 deleted, in ")


def test_a_preview_fails_without_exit_code_two(chain: Any) -> None:
    chain.template({"bad": chain.resource("note", name="NOT A NAME")})
    done = chain.run("what-if", "main.json", "--exit-code")
    assert done.returncode == 1
    assert done.stderr.count("resources.bad.properties.name: ") == 1


def test_stack_and_state_say_where_a_deployment_is_recorded(chain: Any) -> None:
    words = ("--stack", "blue", "--state", "elsewhere")
    chain.json("deploy", "main.json", *words)
    assert not (chain.folder / ".extensor").exists()
    assert chain.json("show", *words)["stack"] == "blue"
    assert chain.json("show", "--state", "elsewhere")["stack"] == "blue"
    chain.json("deploy", "main.json", "--stack", "green", "--state", "elsewhere")
    several = chain.json("show", "--state", "elsewhere", code=1)
    assert "blue, green" in several["errors"][0]["message"]
    assert chain.json("destroy", *words)["status"] == "Succeeded"


def test_the_template_may_be_gone_when_its_resources_are_destroyed(chain: Any) -> None:
    chain.json("deploy", "main.json")
    (chain.folder / "main.json").unlink()
    assert chain.json("destroy", "main.json")["status"] == "Succeeded"


def test_parameters_come_from_files_and_words_and_words_win(chain: Any) -> None:
    folder = chain.folder
    (folder / "one.json").write_text(json.dumps({"parameters": {"greeting": {"value": "from one"}}}), "utf-8")
    (folder / "two.json").write_text(json.dumps({"GREETING": "from two"}), "utf-8")

    def text(*words: str) -> str:
        chain.json("deploy", "main.json", *words)
        return json.loads((folder / "first.note.json").read_text("utf-8"))["text"]

    assert text("--parameters", "one.json") == "from one"
    assert text("--parameters", "one.json", "--parameters", "two.json") == "from two"
    assert text("--parameters", "two.json", "-p", "greeting=from a word") == "from a word"


def test_a_transient_failure_is_told_and_tried_again(stage: Any) -> None:
    stage.template({"busy": stage.resource("busy", name="busy")})
    done = stage.run("deploy", "main.json")
    assert done.returncode == 0
    told = r'! busy \(busy@1.0, name: "busy"\): try 1 failed, the next follows in 0.\d s, for 1800 s more at most: '
    assert re.search(told + "Throttled: one at a time", done.stderr)


@pytest.mark.reported("E01")
def test_a_providers_structured_error_reaches_text_and_json_whole(stage: Any) -> None:
    stage.template(
        {
            "bad": stage.resource("refused", name="bad", text="x"),
            "after": stage.resource("note", "bad", name="after"),
        }
    )
    faults = [
        {"path": "$.resources.bad.properties.text", "code": "QuotaSpent", "message": "no room for 'x'"},
        {"path": "$.resources.bad.properties.name", "code": "InvalidProperty", "message": "too short\nby far"},
    ]
    document = stage.json("deploy", "main.json", code=1)
    assert document["status"] == "Failed"
    assert document["errors"] == [{"symbolicName": "bad", **fault} for fault in faults]
    by_name = {r["symbolicName"]: r for r in document["resources"]}
    assert (by_name["bad"]["status"], by_name["bad"]["errors"]) == ("Failed", faults)
    assert (by_name["after"]["status"], by_name["after"]["reason"]) == ("Skipped", "it depends on bad, which failed")

    done = stage.run("deploy", "main.json")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-4:] == [
        "error: the deployment failed",
        "  resources.bad.properties.text: no room for 'x' (QuotaSpent)",
        "  resources.bad.properties.name: too short",
        "    by far (InvalidProperty)",
    ]
    assert done.stdout.startswith("Not deployed: 1 failed, 1 skipped, in ")


def test_a_provider_nobody_knows_is_told_with_the_option_that_names_it(stage: Any) -> None:
    imports = {"other": {"provider": "nobody", "version": "1.0"}}
    stage.template({"one": {**stage.resource("note", name="one"), "import": "other"}}, imports=imports)
    done = stage.run("deploy", "main.json")
    assert done.returncode == 1
    assert "no provider named 'nobody' is installed" in done.stderr
    assert done.stderr.endswith("Say how a provider is started with: --provider NAME=COMMAND\n")


def test_validate_tells_every_fault_with_its_place_in_the_template(stage: Any) -> None:
    stage.template(
        {
            "one": stage.resource("note", name="NO", colour="red"),
            "two": stage.resource("nota", name="x"),
        }
    )
    errors = stage.json("validate", "main.json", code=1)["errors"]
    assert {(error["code"], error["path"]) for error in errors} >= {
        ("InvalidProperty", "$.resources.one.properties.name"),
        ("UnknownProperty", "$.resources.one.properties.colour"),
    }
    assert any(error["code"] == "UnknownResourceType" for error in errors)


def test_types_are_written_for_the_compiler(stage: Any, project: Any) -> None:
    import sys

    program = project / "tests/process/cli/programs/notes.py"
    document = stage.json("types", f"{sys.executable} {program}", "--out", "types")
    assert document["provider"] == {"name": "notes", "version": "1.2.0"}
    assert document["types"] == [
        "busy@1.0",
        "gate@1.0",
        "note@1.0",
        "number@1.0",
        "refused@1.0",
        "slow-preview@1.0",
        "thing@1.0",
    ]
    index = json.loads((stage.folder / "types/index.json").read_text("utf-8"))
    assert set(index["resources"]) == set(document["types"])
    assert document["files"] == ["types/index.json", "types/types.json"]

    failed = stage.json("types", "no-such-provider", "--out", "types", code=1)
    assert failed["errors"][0]["code"] == "ProviderNotFound"


@pytest.mark.reported("T16")
def test_integers_of_64_bits_are_exact_from_end_to_end(stage: Any) -> None:
    large = [2**31, 2**53 + 1, -(2**63), 2**63 - 1]
    stage.template(
        {"n": stage.resource("number", name="n", value="[add(parameters('n'), 1)]", more=large)},
        parameters={"n": {"type": "int"}},
        outputs={
            "value": {"type": "int", "value": "[reference('n').value]"},
            "more": {"type": "array", "value": "[reference('n').more]"},
        },
    )
    given = ("-p", f"n={2**53}")
    (change,) = stage.json("what-if", "main.json", *given)["changes"]
    assert {item["path"]: item["after"] for item in change["delta"]} == {
        "$.properties.name": "n",
        "$.properties.value": 2**53 + 1,
        "$.properties.more": large,
    }
    outputs = stage.json("deploy", "main.json", *given)["outputs"]
    assert {name: output["value"] for name, output in outputs.items()} == {"value": 2**53 + 1, "more": large}
    assert (stage.folder / "n.number").read_text() == f"{2**53 + 1} {large}"


@pytest.mark.reported("T16")
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (3.14, "whole number"),
        ("[mul(9223372036854775807, 2)]", "does not fit into 64 bits"),
        ("[json('3.14')]", "whole number"),
    ],
)
def test_what_is_no_integer_of_64_bits_is_refused_at_its_place(stage: Any, value: Any, says: str) -> None:
    stage.template({"n": stage.resource("number", name="n", value=value)})
    (error,) = stage.json("deploy", "main.json", code=1)["errors"]
    assert error["path"] == "$.resources.n.properties.value"
    assert says in error["message"]
    assert list(stage.folder.glob("*.number")) == []


@pytest.mark.reported("I01")
def test_a_mode_changed_by_hand_is_previewed_and_mended(stage: Any) -> None:
    entry = {"import": "files", "type": "file@1.0", "properties": {"path": "f", "content": "x", "mode": "0600"}}
    imports = {
        "files": {"provider": "files", "version": "1.0.0", "config": {"root": "."}},
        "notes": {"provider": "notes", "version": "1.0.0"},
    }
    stage.template({"f": entry}, imports=imports)
    stage.json("deploy", "main.json")
    file = stage.folder / "f"
    file.chmod(0o666)
    (change,) = stage.json("what-if", "main.json")["changes"]
    assert change["delta"] == [{"path": "$.properties.mode", "changeType": "Modify", "before": "0666", "after": "0600"}]
    stage.json("deploy", "main.json")
    assert file.stat().st_mode & 0o7777 == 0o600
    assert stage.json("what-if", "main.json")["changes"] == []
