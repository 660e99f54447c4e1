"""Starting and greeting a provider, and saying why it did not work."""

import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from extensor.contract import Limits
from extensor.contract.redaction import Redactor
from extensor.errors import StartFailed
from extensor.hosting import Host, LaunchSpec, LogEntry, find

pytestmark = pytest.mark.anyio
Program = Callable[..., LaunchSpec]


async def test_a_provider_is_greeted_and_known_by_its_own_name_version_and_limits(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes"), want_version="1.1.0")
            assert (session.label, session.name, session.version) == ("notes", "notes", "1.2.0")
            assert session.limits == Limits(16777216, 256)
            assert session.pid is not None
            await session.ping()


@pytest.mark.parametrize(("own", "asked"), [("1.2.0", "1.3.0"), ("2.0.0", "1.2.0"), ("1.2.0-beta", "1.2.0")])
async def test_a_version_that_cannot_serve_is_refused_naming_both(program: Program, own: str, asked: str):
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match=rf"UnsupportedVersion: version {asked} .* {own} answers"):
                await host.start(program("notes", "--version", own), want_version=asked)


async def test_a_provider_without_handshake_is_served_as_protocol_version_1(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("no_handshake"), want_version="1.0.0")
            assert (session.name, session.version) == ("no_handshake", None)
            await session.ping()


async def test_a_provider_that_dies_on_start_is_reported_with_exit_code_and_stderr(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match=r"exited with code 7.*\ncannot read the licence file"):
                await host.start(program("dies_on_start"))


async def test_an_import_error_in_the_provider_shows_in_the_failure(tmp_path: Path):
    (tmp_path / "broken.py").write_text("import no_such_module_anywhere\n")
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match="no_such_module_anywhere"):
                await host.start(LaunchSpec("broken", (sys.executable, str(tmp_path / "broken.py"))))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (LaunchSpec("gone", ("/no/such/program",)), "/no/such/program: No such file"),
        (LaunchSpec("dir", ("/tmp",)), "/tmp: Permission denied"),
        (
            LaunchSpec("lost", (sys.executable,), Path("/no/such/dir")),
            "its working directory /no/such/dir is not there",
        ),
        (LaunchSpec("nul", ("a\0b",)), "null byte"),
    ],
)
async def test_a_program_that_the_system_cannot_start_is_reported_with_the_reason(spec: LaunchSpec, words: str):
    async with Host() as host:
        with pytest.raises(StartFailed, match=words):
            await host.start(spec)


async def test_a_program_that_sends_our_requests_back_is_said_to_be_no_provider():
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(
                StartFailed, match=r"^X is no provider: it sends the host's own requests back.*provider/initialize"
            ):
                await host.start(find("X", command="cat"))


async def test_a_program_that_ends_well_without_an_answer_is_asked_whether_it_calls_run():
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed) as failed:
                await host.start(LaunchSpec("quiet", (sys.executable, "-c", "")))
    assert str(failed.value) == (
        "provider quiet could not be started: it exited with code 0 before it answered; "
        "does the program call extensor.run?; its stderr is empty"
    )


async def test_a_program_that_says_something_else_and_ends_is_quoted_with_its_secrets_masked():
    program = "print('hello from hunter22, this is no provider')"
    redactor = Redactor(["hunter22"])
    with anyio.fail_after(10):
        async with Host(redactor=redactor) as host:
            with pytest.raises(StartFailed, match=r"its stdout begins with 'hello from \*\*\*, this is no provider"):
                await host.start(LaunchSpec("hello", (sys.executable, "-c", program)))


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ("error: no backend", "error", "no backend"),
        ("warning: old: very", "warning", "old: very"),
        ("debug: ", "debug", ""),
        ("info: ready", "info", "ready"),
        ("error:no blank", "info", "error:no blank"),
        ("Error: not ours", "info", "Error: not ours"),
        ("fatal: what a word", "info", "fatal: what a word"),
        ("usage: x", "info", "usage: x"),
    ],
)
async def test_a_line_of_stderr_has_the_level_that_it_begins_with(line: str, level: str, message: str):
    heard: list[LogEntry] = []
    program = f"import sys; print({line!r}, file=sys.stderr)"
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed):
                await host.start(LaunchSpec("x", (sys.executable, "-c", program)), on_log=heard.append)
    assert [(entry.source, entry.level, entry.message) for entry in heard] == [("stderr", level, message)]


async def test_a_provider_that_never_greets_is_given_up_and_ended(program: Program):
    with anyio.fail_after(10):
        async with Host(start_timeout=0.5) as host:
            with pytest.raises(
                StartFailed, match=r"did not answer provider/initialize within 0.5 s(.|\n)*I am thinking"
            ):
                await host.start(program("silent"))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("handshake-list", r"is no greeting.*its stdout begins with .*result.*\["),
        ("handshake-empty", r"protocolVersion.*its stdout begins with .*jsonrpc"),
        ("handshake-version", "UnsupportedVersion.*99.*speaks 1"),
        ("handshake-refused", "no common version.*7, 8"),
    ],
)
async def test_a_wrong_greeting_is_refused_with_what_is_wrong(program: Program, mode: str, words: str):
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match=words):
                await host.start(program("wrong_shapes", mode))


@pytest.mark.reported("W13")
async def test_two_thousand_lines_on_stderr_before_the_first_answer_do_not_stall_the_start(program: Program):
    heard: list[LogEntry] = []
    with anyio.fail_after(20):
        async with Host() as host:
            session = await host.start(program("floods_stderr"), on_log=heard.append)
            await session.aclose()
            assert len(heard) == 2000
            assert heard[0].message.startswith("start line 0 ")
            assert {(entry.provider, entry.source) for entry in heard} == {("floods_stderr", "stderr")}
            assert session.stderr_tail.splitlines()[-1].startswith("start line 1999 ")


async def test_a_listener_that_fails_does_not_end_the_provider(program: Program, caplog: pytest.LogCaptureFixture):
    def listener(entry: LogEntry) -> None:
        raise ValueError(entry.message)

    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes"), on_log=listener)
            await session.ping()
            await session.aclose()
    assert "a listener failed" in caplog.text


async def test_providers_start_in_parallel(program: Program):
    sessions = []

    async def start(host: Host) -> None:
        sessions.append(await host.start(program("notes")))

    with anyio.fail_after(20):
        async with Host() as host:
            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(start, host)
            assert len({session.pid for session in sessions}) == 4


@pytest.mark.reported("E13")
async def test_a_lazy_provider_is_not_started_before_it_is_used_and_a_broken_one_harms_nobody(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            broken = host.lazy(program("dies_on_start"))
            good = host.lazy(program("notes"))
            assert (broken.starts, good.starts) == (0, 0)
            await good.ping()
            assert (broken.starts, good.starts) == (0, 1)
            with pytest.raises(StartFailed, match="exited with code 7"):
                await broken.ping()
            await good.ping()


async def test_the_environment_of_a_provider_is_the_allowed_part_and_what_its_launch_adds(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_CREDENTIAL", "s")
    script = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(repr(sorted(os.environ)))"
    place = tmp_path / "environment"
    async with Host() as host:
        with pytest.raises(StartFailed, match="exited with code 0"):
            await host.start(LaunchSpec("e", (sys.executable, "-c", script, str(place)), tmp_path, {"ADDED": "1"}))
    names = place.read_text()
    assert "'ADDED'" in names
    assert "'PATH'" in names
    assert "MY_CREDENTIAL" not in names


async def test_a_start_that_is_canceled_leaves_no_process(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            session = host.lazy(program("silent"))
            async with anyio.create_task_group() as group:
                group.start_soon(session.start)
                while session.pid is None:
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            await session.aclose()
            assert session.pid is None


async def test_a_host_that_is_not_open_starts_nothing(program: Program):
    with pytest.raises(StartFailed, match="async with Host"):
        await Host().start(program("notes"))


@pytest.mark.parametrize(("times", "sign", "starts"), [(1, 9, 2), (1, 15, 2), (2, 9, 2), (1, 11, 1)])
async def test_a_provider_that_is_killed_before_it_greets_is_started_once_more(
    program: Program, tmp_path: Path, times: int, sign: int, starts: int
):
    count = tmp_path / "count"
    spec = program("killed_at_first", "--count", count, "--times", times, "--signal", sign)
    with anyio.fail_after(20):
        async with Host() as host:
            if times < starts:
                session = await host.start(spec)
                await session.ping()
            else:
                with pytest.raises(StartFailed, match="exited by signal SIG"):
                    await host.start(spec)
    assert len(count.read_text()) == starts
