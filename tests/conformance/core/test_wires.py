"""One seam, three wires: what can be said is the same, and the token travels."""

from collections.abc import Callable
from pathlib import Path

import pytest

from extensor.errors import StartFailed
from extensor_conformance.adapters import Feature, adapter_for
from extensor_conformance.connection import Connection
from extensor_conformance.report.model import Report
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Failed, Outcome, Verdict

Connect = Callable[..., Connection]


Plain = Callable[..., Subject]


@pytest.mark.parametrize("wire", ["stdio", "unix:", "tcp:"])
def test_a_run_over_any_wire_gives_the_same_verdicts(run: Callable[..., Report], plain: Plain, wire: str) -> None:
    report = run(plain(address=wire if wire != "stdio" else None), "PROTO-01", "SCH-03", "ERR-01")
    assert {item.verdict for item in report.outcomes} == {Verdict.PASS}
    assert report.start_failure is None


def test_a_rule_that_a_wire_cannot_express_does_not_apply_and_says_so(
    run: Callable[..., Report], plain: Plain, outcome: Callable[..., Outcome]
) -> None:
    found = outcome(run(plain(address="unix:"), "PROTO-03"), "PROTO-03")
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.reason == "the wire unix has no standard output that carries frames"


def test_a_token_is_made_for_tcp_and_presented(connect: Connect, plain: Plain) -> None:
    connection = connect(plain(address="tcp:"))
    with pytest.raises(Failed, match="Unauthorized"):
        connection.greet(token="wrong")
    assert connection.greet().name == "plain"


def test_a_second_client_reaches_the_same_process(connect: Connect, plain: Plain) -> None:
    first = connect(plain(address="unix:"))
    first.greet()
    second = first.another("2")
    assert second.greet().name == "plain"
    assert second.pid == first.pid
    second.close()
    assert first.ping().ok


def test_a_provider_that_runs_already_is_reached_and_left_alone(connect: Connect, plain: Plain) -> None:
    owner = connect(plain(address="unix:"))
    guest = connect(Subject(address=str(owner.subject.address)))  # type: ignore[attr-defined]
    guest.greet()
    guest.close()
    assert owner.ping().ok


def test_an_address_where_nobody_is_fails_at_once(tmp_path: Path) -> None:
    nobody = Subject(address=f"unix:{tmp_path / 'none.sock'}")
    with pytest.raises(StartFailed, match="nobody answers"):
        adapter_for(nobody).open(nobody, None, start_timeout=1)  # type: ignore[arg-type]


def test_a_listener_that_ends_before_it_listens_is_told_with_its_words(connect: Connect, plain: Plain) -> None:
    with pytest.raises(StartFailed, match=r"exit code 3.*no licence"):
        connect(plain("die", "unix:"))


def test_features_differ_by_wire_alone(plain: Plain) -> None:
    assert Feature.SOCKET not in adapter_for(plain()).features
    assert Feature.TOKEN in adapter_for(plain(address="tcp:")).features
    assert Feature.TOKEN not in adapter_for(plain(address="unix:")).features


@pytest.mark.reported("W30")
def test_a_long_temporary_folder_does_not_keep_a_socket_from_being_made(
    connect: Connect, plain: Plain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("y" * 150)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    connection = connect(plain(address="unix:"))
    assert connection.greet().name == "plain"
    assert list(long.iterdir()) == []
    place = Path(str(connection.subject.address).removeprefix("unix:")).parent  # type: ignore[attr-defined]
    connection.close()
    assert not place.exists()
