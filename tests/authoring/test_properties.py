import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from extensor import Identifier, OperationFailed, Properties, Secret, Unknown, WriteOnly
from extensor.authoring.dump import dump, dump_with_unknowns
from extensor.authoring.materialise import materialise


class Port(BaseModel):
    number: int = Field(ge=1, le=65535)
    protocol: str = "tcp"


class Web(Properties):
    name: Identifier[str]
    port: Port | None = None
    ports: list[Port] = []
    labels: dict[str, str] = {}
    size: int = 1
    password: WriteOnly[Secret[str]] | None = None
    alias: str | None = Field(default=None, alias="otherName")

    @field_validator("size")
    @classmethod
    def _positive(cls, size: int) -> int:
        if size < 1:
            raise ValueError("must be positive")
        return size


def test_properties_that_the_model_does_not_name_are_refused():
    with pytest.raises(ValidationError):
        Web(name="a", colour="red")  # pyright: ignore[reportCallIssue]


def test_nothing_is_built_before_the_type_is_used():
    class Late(Properties):
        name: str

    assert not Late.__pydantic_complete__
    assert Late(name="a").name == "a"
    assert Late.__pydantic_complete__


def test_a_model_built_in_code_may_hold_unknowns():
    unknown = Unknown("[reference('a').x]", "$.properties.size")
    web = Web(name="a", size=unknown, ports=[{"number": unknown}])  # pyright: ignore[reportArgumentType]
    assert web.size is unknown
    assert isinstance(web.ports[0], Port)
    assert web.ports[0].number is unknown
    assert web.ports[0].protocol == "tcp"
    assert web.model_fields_set == {"name", "size", "ports"}


def test_a_model_with_an_unknown_and_a_wrong_value_is_refused_as_pydantic_does():
    with pytest.raises(ValidationError):
        Web(name=3, size=Unknown())  # pyright: ignore[reportArgumentType]


def test_secrets_do_not_show_when_a_model_is_printed():
    shown = repr(Web(name="a", password="hunter22"))
    assert "hunter22" not in shown
    assert "***" in shown
    assert "password=None" in repr(Web(name="a"))


@pytest.mark.reported("I12")
def test_over_puts_what_was_given_over_what_is_there():
    current = Web(name="a", port=Port(number=80, protocol="udp"), labels={"x": "1"}, size=5)
    desired = Web(name="a", port=Port(number=81), labels={"y": "2"})
    merged = desired.over(current)
    assert (merged.size, merged.labels) == (5, {"y": "2"})
    assert merged.port == Port(number=81, protocol="udp")
    assert current.port == Port(number=80, protocol="udp")


def test_an_object_in_a_list_loses_what_is_left_out_of_it():
    current = Web(name="a", ports=[Port(number=80, protocol="udp")])
    assert Web(name="a", ports=[Port(number=81)]).over(current).ports == [Port(number=81, protocol="tcp")]


def test_a_known_subtree_is_validated_and_its_faults_have_their_paths():
    unknown = Unknown()
    with pytest.raises(OperationFailed) as failed:
        materialise(
            Web,
            {
                "name": unknown,
                "port": {"number": 0},
                "ports": [{"number": 1}, {"number": unknown, "protocol": 7}],
                "size": 0,
            },
            ("properties",),
        )
    assert {(fault.path, fault.code) for fault in failed.value.failure.faults} == {
        ("$.properties.port.number", "InvalidProperty"),
        ("$.properties.ports[1].protocol", "InvalidProperty"),
        ("$.properties.size", "InvalidProperty"),
    }


def test_faults_of_a_missing_and_a_superfluous_property_say_so_beside_an_unknown():
    with pytest.raises(OperationFailed) as failed:
        materialise(Web, {"size": Unknown(), "colour": "red"}, ("properties",))
    assert {(fault.path, fault.code) for fault in failed.value.failure.faults} == {
        ("$.properties.name", "MissingProperty"),
        ("$.properties.colour", "UnknownProperty"),
    }


def test_field_validators_run_where_all_they_see_is_known_and_model_validators_do_not_run_beside_unknowns():
    seen: list[object] = []

    class Checked(Properties):
        a: int
        b: int
        c: int = 0

        @field_validator("b")
        @classmethod
        def _field(cls, b: int) -> int:
            seen.append(b)
            return b

        @model_validator(mode="after")
        def _model(self) -> "Checked":
            seen.append("model")
            return self

    built = materialise(Checked, {"a": Unknown(), "b": "2"}, ())
    assert (built.b, seen) == (2, [2])
    materialise(Checked, {"a": 1, "b": 2}, ())
    assert seen == [2, 2, "model"]


def test_an_alias_is_the_name_on_the_wire():
    web = materialise(Web, {"name": "a", "otherName": "b", "size": Unknown()}, ())
    assert web.alias == "b"
    assert dump(Web(name="a", alias="b"))["otherName"] == "b"  # pyright: ignore[reportCallIssue]


def test_unions_of_models_take_the_member_whose_known_parts_fit():
    class Cat(BaseModel):
        kind: str = Field(pattern="^cat$")
        lives: int

    class Dog(BaseModel):
        kind: str = Field(pattern="^dog$")
        tricks: list[str]

    class Home(Properties):
        pet: Cat | Dog
        pets: dict[str, Cat | Dog] = {}

    unknown = Unknown()
    home = materialise(
        Home,
        {"pet": {"kind": "dog", "tricks": unknown}, "pets": {"tom": {"kind": "cat", "lives": unknown}, "rex": unknown}},
        (),
    )
    assert isinstance(home.pet, Dog)
    assert home.pet.tricks is unknown
    assert isinstance(home.pets["tom"], Cat)
    assert home.pets["rex"] is unknown


def test_recursive_models_hold_unknowns_at_any_depth():
    class Node(Properties):
        name: str
        below: list["Node"] = []

    unknown = Unknown()
    tree = materialise(Node, {"name": "a", "below": [{"name": "b", "below": [{"name": unknown}]}, {"name": "c"}]}, ())
    assert tree.below[0].below[0].name is unknown
    assert tree.below[1].name == "c"


def test_what_is_dumped_holds_the_same_unknowns_and_no_nulls():
    unknown = Unknown("[x]")
    data = {"name": "a", "size": unknown, "labels": {"x": unknown, "y": "unknown"}, "ports": [{"number": unknown}]}
    dumped = dump_with_unknowns(materialise(Web, data, ()))
    assert dumped["size"] is unknown
    assert dumped["labels"] == {"x": unknown, "y": "unknown"}
    assert dumped["ports"][0]["number"] is unknown
    assert "port" not in dumped


def test_a_value_without_json_form_is_no_unknown():
    with pytest.raises(Exception, match="no JSON form"):
        dump_with_unknowns(Web.model_construct(name=object()))
