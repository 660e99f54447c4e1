"""The author's file: everything has a place, mistakes are told with theirs, and secrets stay references."""

from datetime import date
from pathlib import Path

import pytest

from extensor_conformance.fixture import Fixture, FixtureError, load_fixture, read_place

WHOLE = """
[provider]
command = ["python", "-m", "mine"]
cwd = "sub"
env = { MODE = "test", KEY = { env = "MY_KEY" } }

[config]
endpoint = "http://localhost:9999"
apiKey = { env = "MY_KEY", secret = true }
region = { env = "REGION", secret = false }
nested = { password = { value = "pass-word-1", secret = true } }

[types."Contoso/employee"]
overrides = { "/name" = { pattern = "emp-[a-z0-9]{8}" }, "$.properties.role" = { choose = ["Engineer"] } }
identity = ["/name"]
consistency_window = "2s"
ephemeral = true
random = ["$.badge"]
waive = [{ check = "PRV-12", path = "/badge", reason = "random by design", until = "2027-01-01" }]

[[waive]]
check = "ERR-03"
reason = "one at a time"

[probe]
command = "python probe.py"

[faults.triggers]
throttle = { name = "slow-down" }
"""
ENVIRON = {"MY_KEY": "very-secret-key", "REGION": "north"}


@pytest.fixture
def whole(tmp_path: Path) -> Fixture:
    path = tmp_path / "conformance.toml"
    path.write_text(WHOLE)
    return load_fixture(path, ENVIRON)


def test_no_file_is_a_legal_start() -> None:
    assert load_fixture(None) == Fixture()


def test_everything_is_read(whole: Fixture, tmp_path: Path) -> None:
    assert whole.command == ("python", "-m", "mine")
    assert whole.cwd == tmp_path / "sub"
    assert whole.env == {"MODE": "test", "KEY": "very-secret-key"}
    assert whole.config == {
        "endpoint": "http://localhost:9999",
        "apiKey": "very-secret-key",
        "region": "north",
        "nested": {"password": "pass-word-1"},
    }
    assert whole.probe == ("python", "probe.py")
    assert whole.faults["triggers"] == {"throttle": {"name": "slow-down"}}
    assert len(whole.digest) == 64


def test_a_probe_beside_the_file_is_found_from_everywhere(tmp_path: Path) -> None:
    (tmp_path / "probe.py").touch()
    path = tmp_path / "conformance.toml"
    path.write_text('probe = { command = ["python", "probe.py", "other.py"] }')
    assert load_fixture(path).probe == ("python", str(tmp_path / "probe.py"), "other.py")


def test_what_comes_from_the_environment_is_secret_unless_said_otherwise(whole: Fixture) -> None:
    assert set(whole.secrets) == {"very-secret-key", "pass-word-1"}
    assert set(whole.secret_config) == {("apiKey",), ("nested", "password")}


def test_types_are_found_with_and_without_their_version_and_case(whole: Fixture) -> None:
    for name in ("Contoso/employee@1.0", "contoso/Employee@2"):
        kind = whole.for_type(name)
        assert kind.identity == (("name",),)
        assert kind.overrides[("role",)] == {"choose": ["Engineer"]}
        assert (kind.consistency_window, kind.ephemeral, kind.random) == (2.0, True, (("badge",),))
    assert whole.for_type("other@1.0").identity == ()


def test_waivers_know_their_type_and_day(whole: Fixture) -> None:
    everywhere, own = whole.waivers
    assert (everywhere.check, everywhere.type, everywhere.path) == ("ERR-03", None, None)
    assert (own.type, own.path, own.until) == ("Contoso/employee", "$.properties.badge", date(2027, 1, 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[provider]\ncomand = 'x'", "'comand' means nothing here"),
        ("[config]\nkey = { env = 'MISSING' }", r"config\.key: the environment has no MISSING"),
        ("waive = [{ check = 'PRV-01' }]", "a waiver needs reason"),
        ("[types.a]\nconsistency_window = 'soon'", "expected seconds"),
        ("[types.a]\noverrides = { '$[' = { choose = [1] } }", "not a path"),
        ("[types.a]\noverrides = { '/a' = { chose = [1] } }", "'chose' means nothing here"),
        ("[types.a]\noverrides = { '/a' = { omit = true, present = true } }", "left out and always given"),
        ("[types.a]\nwaive = [{ check = 'X', reason = 'r', until = 'soon' }]", "a date like"),
        ("config = 1", "expected a table"),
        ("[", "Invalid"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "conformance.toml"
    path.write_text(text)
    with pytest.raises(FixtureError, match=words) as caught:
        load_fixture(path, {})
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="No such file"):
        load_fixture(tmp_path / "none.toml")


def test_places_are_written_three_ways() -> None:
    assert read_place("/spec/ports/0/a~1b", "") == ("spec", "ports", 0, "a/b")
    assert read_place("$.spec.ports[0]", "") == ("spec", "ports", 0)
    assert read_place("$.properties.spec", "") == ("spec",)
