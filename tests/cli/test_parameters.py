"""``-p NAME=VALUE``."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.cli.assignment import Assignment, split_assignment
from extensor.cli.parameters import Declared, typed_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def value_of(text: str, kind: str, **more: bool) -> object:
    values, faults = typed_values([Assignment("it", text)], [Declared("it", kind, **more)])
    assert not faults
    return values["it"]


def refusal(text: str, kind: str, **more: bool) -> str:
    values, (fault,) = typed_values([Assignment("it", text)], [Declared("it", kind, **more)])
    assert not values
    assert fault.path == "$.parameters.it"
    return fault.message


@given(st.text(alphabet=st.characters(exclude_characters="@", codec="utf-8")))
def test_a_string_parameter_is_the_text_as_it_stands(text: str) -> None:
    assert value_of(text, "string") == text


@pytest.mark.parametrize("text", ["12", "true", "null", "", '"quoted"', "a=b", " x "])
def test_a_string_parameter_never_becomes_another_type(text: str) -> None:
    assert value_of(text, "string") == text


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_an_object_parameter_is_read_as_json(value: dict[str, object]) -> None:
    assert value_of(json.dumps(value), "object") == value


@given(st.lists(JSON, max_size=4))
def test_an_array_parameter_is_read_as_json(value: list[object]) -> None:
    assert value_of(json.dumps(value), "array") == value


@given(st.integers())
def test_an_int_parameter_is_a_whole_number_of_any_size(value: int) -> None:
    assert value_of(str(value), "int") == value


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_a_bool_parameter_is_true_or_false(text: str, value: bool) -> None:
    assert value_of(text, "bool") is value


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("1.5", "int", "a whole number"),
        ("true", "int", "a whole number"),
        ("", "int", "a whole number"),
        ("True", "bool", "true or false"),
        ("1", "bool", "true or false"),
        ("[1]", "object", "a JSON object"),
        ("{", "object", "line 1, column 2"),
        ("NaN", "array", "NaN is not JSON"),
        ("{}", "array", "a JSON list"),
        ("null", "array", "a JSON list"),
        ("[" * 100_000, "array", "nested too deeply"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_form_that_is_right(text: str, kind: str, said: str) -> None:
    assert said in refusal(text, kind)


def test_null_is_a_value_where_the_template_allows_it() -> None:
    assert value_of("null", "int", nullable=True) is None


def test_a_wrong_secret_is_not_quoted() -> None:
    assert "hunter2" not in refusal("hunter2", "object", secure=True)


def test_a_parameter_of_an_open_type_is_json_where_it_can_be_and_text_elsewhere() -> None:
    assert value_of("[1]", "") == [1]
    assert value_of("plain", "") == "plain"


@pytest.mark.parametrize(
    ("content", "value"),
    [(b"s3cret\n", "s3cret"), (b"s3cret\r\n", "s3cret"), (b"a\n\n", "a\n"), (b"", ""), ("\ufeffé".encode(), "é")],
)
def test_a_value_can_come_from_a_file_without_its_last_line_end(tmp_path: Path, content: bytes, value: str) -> None:
    (tmp_path / "secret").write_bytes(content)
    assert value_of(f"@{tmp_path / 'secret'}", "string") == value


def test_a_file_holds_json_for_the_other_types(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[\n  1,\n  2\n]\n", "utf-8")
    assert value_of(f"@{tmp_path / 'list.json'}", "array") == [1, 2]


def test_a_value_can_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"from the pipe\n")))
    assert value_of("@-", "string") == "from the pipe"


def test_a_text_that_begins_with_an_at_sign_is_written_with_two() -> None:
    assert value_of("@@home", "string") == "@home"


def test_a_missing_or_binary_file_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff\x00\xfe")
    assert "there is no parameter file" in refusal(f"@{tmp_path / 'gone'}", "string")
    assert "base64" in refusal(f"@{tmp_path / 'key'}", "string")
    assert "is a folder" in refusal(f"@{tmp_path}", "string")


def test_names_are_found_without_case_and_the_last_value_of_a_name_counts() -> None:
    given = [Assignment("REPLICAS", "1"), Assignment("replicas", "2")]
    assert typed_values(given, [Declared("Replicas", "int")]) == ({"Replicas": 2}, [])


def test_every_fault_of_a_command_line_is_told_at_once() -> None:
    declared = [Declared("count", "int"), Declared("open", "bool")]
    words = [Assignment("count", "x"), Assignment("other", "1"), Assignment("open", "maybe")]
    values, faults = typed_values(words, declared)
    assert [(fault.path, fault.code) for fault in faults] == [
        ("$.parameters.count", "InvalidProperty"),
        ("$.parameters.open", "InvalidProperty"),
    ]
    assert values == {"other": "1"}


@pytest.mark.parametrize("text", ["name", "=value", " =value", ""])
def test_an_assignment_without_a_name_or_an_equals_sign_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        split_assignment(text)


def test_only_the_first_equals_sign_parts_name_and_value() -> None:
    assert split_assignment("a=b=c") == Assignment("a", "b=c")


def test_bytes_that_are_no_text_are_refused_before_any_provider_meets_them() -> None:
    _, faults = typed_values([Assignment("name", "a\udcffb")], [Declared("name", "string")])
    assert [(fault.path, "UTF-8" in fault.message) for fault in faults] == [("$.parameters.name", True)]
