import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from extensor.contract import (
    CallContext,
    ContractViolation,
    Failure,
    Fault,
    Import,
    InitializeParams,
    InitializeResult,
    PreviewMetadata,
    ResourceData,
    ResourceResult,
    Unknown,
    models,
)

SEED_EXAMPLE = {
    "type": "application@1.0",
    "import": {"provider": "AAD", "version": "0.1", "config": {}},
    "properties": {"displayName": "x"},
}
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-2, 2), st.sampled_from(["", "a", "x@1"])),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=3,
)


def document(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object that mostly has its members, or anything at all."""
    return st.one_of(st.fixed_dictionaries(members), st.fixed_dictionaries({}, optional=members), values)


data = document(
    **{
        "import": document(
            provider=st.just("AAD") | st.just("AAD") | values,
            version=st.just("1.0") | st.just("1.0") | values,
            config=st.just({}) | st.just({}) | values,
            configId=st.just("c") | st.just("c") | values,
        ),
        "type": st.just("app@1") | st.just("app@1") | values,
        "properties": st.just({}) | st.just({}) | values,
        "context": document(
            deadlineSeconds=st.just(3) | st.just(3) | values, requestId=st.just("r") | st.just("r") | values
        ),
    }
)
result = document(
    properties=st.just({}) | st.just({}) | values,
    identifiers=st.just({"a": 1}) | st.just({"a": 1}) | values,
    configId=st.just("c") | st.just("c") | values,
)


def accepts(model: type[BaseModel], wire: Any) -> bool:
    try:
        model.model_validate(wire)
    except ValidationError:
        return False
    return True


def repaired(wire: Any) -> Any:
    return wire if accepts(models.ResourceData, wire) else SEED_EXAMPLE


def faults_of(read: Callable[[Any], object], wire: Any) -> tuple[Fault, ...]:
    try:
        read(wire)
    except ContractViolation as violation:
        return violation.faults
    return ()


@given(data)
def test_resource_data_is_read_exactly_where_its_schema_allows_it(wire: Any) -> None:
    faults = faults_of(ResourceData.from_wire, wire)
    assert accepts(models.ResourceData, wire) is not bool(faults)
    assert all(fault.path and fault.path.startswith("$") for fault in faults)


@given(data.map(repaired))
def test_resource_data_crosses_the_wire_unchanged(wire: Any) -> None:
    read = ResourceData.from_wire(wire)
    assert ResourceData.from_wire(json.loads(json.dumps(read.to_wire()))) == read


@given(result)
def test_a_result_is_read_exactly_where_its_schema_allows_it(wire: Any) -> None:
    faults = faults_of(ResourceResult.from_wire, wire)
    assert accepts(models.ResourceResult, wire) is not bool(faults)


@given(result.filter(lambda wire: accepts(models.ResourceResult, wire)))
def test_a_result_crosses_the_wire_unchanged(wire: Any) -> None:
    read = ResourceResult.from_wire(wire)
    assert ResourceResult.from_wire(json.loads(json.dumps(read.to_wire()))) == read


def test_the_proposals_own_example_is_read() -> None:
    read = ResourceData.from_wire(SEED_EXAMPLE)
    assert read == ResourceData(Import("AAD", "0.1"), "application@1.0", {"displayName": "x"})


def test_every_fault_of_a_request_is_named_with_its_place() -> None:
    with pytest.raises(ContractViolation) as caught:
        ResourceData.from_wire({"import": {"provider": 1, "config": []}, "type": "", "context": {"deadlineSeconds": 0}})
    assert [fault.path for fault in caught.value.faults] == [
        "$.import.provider",
        "$.import.version",
        "$.import.config",
        "$.type",
        "$.properties",
        "$.context.deadlineSeconds",
    ]


def test_unknown_members_of_a_newer_host_are_let_through() -> None:
    read = ResourceData.from_wire({**SEED_EXAMPLE, "trace": 1, "context": {"region": "x", "requestId": "r"}})
    assert read.context == CallContext(request_id="r")


def test_unknowns_travel_in_properties_and_config() -> None:
    read = ResourceData.from_wire(
        {
            **SEED_EXAMPLE,
            "import": {"provider": "AAD", "version": "0.1", "config": {"tenant": {"$unknown": {}}}},
            "properties": {"a": {"$unknown": {"expression": "[x()]"}}, "b": {"$$unknown": {}}},
        }
    )
    assert isinstance(read.imported.config["tenant"], Unknown)
    assert read.properties["a"].expression == "[x()]"
    assert read.properties["b"] == {"$unknown": {}}
    assert read.to_wire()["properties"]["b"] == {"$$unknown": {}}


def test_properties_as_a_whole_cannot_be_unknown() -> None:
    with pytest.raises(ContractViolation, match=r"\$\.properties"):
        ResourceData.from_wire({**SEED_EXAMPLE, "properties": {"$unknown": {}}})


def test_a_failure_crosses_the_wire_unchanged() -> None:
    failure = Failure(
        (Fault("InvalidProperty", "too long", "$.properties.name"), Fault("Custom", "more")),
        True,
        2.5,
        {"identifiers": {"name": "a"}},
        "c-1",
    )
    wire = json.loads(json.dumps(failure.to_wire()))
    assert Failure.from_wire(wire) == failure
    assert accepts(models.Failure, wire)


@given(values)
def test_any_answer_of_a_broken_peer_still_becomes_a_failure_with_a_reason(wire: Any) -> None:
    failure = Failure.from_wire(wire, "said the peer")
    assert failure.faults
    assert failure.message


def test_the_handshake_crosses_the_wire_unchanged() -> None:
    params = InitializeParams(client_name="host", client_version="2", token="t")
    assert InitializeParams.from_wire(json.loads(json.dumps(params.to_wire()))) == params
    answer = InitializeResult("1", "files", "1.0.0")
    assert InitializeResult.from_wire(json.loads(json.dumps(answer.to_wire()))) == answer
    assert accepts(models.InitializeParams, params.to_wire())
    assert accepts(models.InitializeResult, answer.to_wire())


def test_metadata_leaves_empty_classes_out() -> None:
    metadata = PreviewMetadata(unknown=("$.properties.id",))
    assert metadata.to_wire() == {"unknown": ["$.properties.id"]}
    assert PreviewMetadata.from_wire(metadata.to_wire()) == metadata
