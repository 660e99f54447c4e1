"""What a provider's process sees of its host's environment."""

import pytest

from extensor.hosting import environment


def test_credentials_in_the_hosts_environment_do_not_pass():
    base = {
        "PATH": "/bin",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AZURE_CLIENT_SECRET": "s",
        "EXTENSOR_TOKEN": "s",
        "LC_TIME": "C",
    }
    assert environment(base=base) == {"PATH": "/bin", "LC_TIME": "C"}


def test_what_the_launch_adds_wins():
    assert environment({"PATH": "/mine", "KEY": "v"}, {"PATH": "/bin"}) == {"PATH": "/mine", "KEY": "v"}


@pytest.mark.parametrize(
    "name",
    ["PYTHONWARNINGS", "PYTHONSTARTUP", "PYTHONIOENCODING", "PYTHONINSPECT", "LD_PRELOAD", "EXTENSOR_TEST_FAULTS"],
)
def test_variables_that_change_how_a_program_behaves_do_not_pass(name: str):
    assert environment(base={name: "1"}) == {}


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "HOME", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "LANG", "LC_ALL"]
)
def test_what_a_program_needs_to_find_its_things_passes(name: str):
    assert environment(base={name: "1"}) == {name: "1"}
