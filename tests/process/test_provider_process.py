"""A provider as a process: a clean wire whatever its author's code does, and an end in time whatever it does then."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extensor.rpc.addresses import UNIX_PATH_LIMIT

Data = Callable[..., dict[str, Any]]
Start = Callable[..., Any]

SECONDS = 30.0
"""More than anything takes that is not bounded by the protocol."""
EXIT_SECONDS = 5.0 + 2.0
"""What the protocol allows, and what a busy machine may add."""

SLOW = """
@provider.resource("note@1.0")
class Handler(ResourceHandler[Note]):
    async def save(self, ctx, desired):
        print("saving", flush=True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("canceled", flush=True)
            raise
        return desired
"""


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_save_is_answered_and_the_end_of_input_ends_the_process(start: Start, resource_data: Data):
    child = start()
    answer = child.call("resource/save", resource_data({"name": "a", "text": "naïve 日本 🚀"}))
    assert answer["result"]["properties"]["text"] == "naïve 日本 🚀"
    assert child.end() == 0
    assert child.stderr == ""


def test_piped_in_requests_are_answered_without_a_handshake_before_the_process_ends(start: Start, resource_data: Data):
    child = start()
    for name in "abc":
        child.send("resource/save", resource_data({"name": name}))
    child.stdin.close()
    answers = [child.answer() for _ in range(3)]
    assert sorted(answer["result"]["identifiers"]["name"] for answer in answers) == ["a", "b", "c"]
    assert child.line() == b""
    assert child.process.wait(EXIT_SECONDS) == 0


@pytest.mark.reported("W01")
@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-16"},
    ],
)
def test_the_wire_is_utf8_whatever_the_locale(start: Start, resource_data: Data, env: dict[str, str]):
    child = start(env=env)
    text = "naïve 日本 🚀 \u2028 \x00 \r\n"
    assert (
        child.call("resource/save", resource_data({"name": "a", "text": text}))["result"]["properties"]["text"] == text
    )


NOISE = """
import ctypes, logging
print("printed at the top")
sys.stdout.write("written at the top\\n")
os.write(1, b"raw at the top\\n")
logging.basicConfig(stream=sys.stdout, level=logging.INFO)

@provider.resource("note@1.0")
class Handler(ResourceHandler[Note]):
    async def save(self, ctx, desired):
        print("printed in save")
        os.write(1, b"raw in save\\n")
        logging.info("logged in save")
        libc = ctypes.CDLL(None)
        libc.puts(b"from C")
        libc.fflush(None)
        subprocess.run(["echo", "from a child"])
        subprocess.run([sys.executable, "-c", "print('from a python child')"])
        await (await asyncio.create_subprocess_exec("echo", "from an async child")).wait()
        sys.__stdout__.write("from the original stdout\\n")
        sys.__stdout__.flush()
        return desired
"""


@pytest.mark.reported("W08")
@pytest.mark.parametrize("env", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_whatever_prints_shows_in_the_log_and_never_on_the_wire(start: Start, resource_data: Data, env: dict[str, str]):
    child = start(NOISE, env=env)
    assert child.call("resource/save", resource_data({"name": "a"}))["result"]["identifiers"] == {"name": "a"}
    child.stdin.close()
    assert child.line() == b""
    assert child.process.wait(EXIT_SECONDS) == 0
    log = child.stderr
    for text in (
        *("printed at the top", "written at the top", "raw at the top"),
        *("printed in save", "raw in save", "logged in save", "from C"),
        *("from a child", "from a python child", "from an async child", "from the original stdout"),
    ):
        assert text in log


def test_a_child_that_reads_stdin_finds_its_end_and_takes_nothing_from_the_wire(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            def save(self, ctx, desired):
                read = subprocess.run(["cat"], capture_output=True, timeout=10).stdout
                return Note(name=desired.name, text=f"{len(read)} {len(sys.stdin.read())}")
        """
    )
    for name in "abc":
        child.send("resource/save", resource_data({"name": name}))
    texts = [child.answer()["result"]["properties"]["text"] for _ in range(3)]
    assert texts == ["0 0", "0 0", "0 0"]


def test_children_do_not_hold_the_wire_open(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            async def save(self, ctx, desired):
                subprocess.Popen(["sleep", "300"], close_fds=False)
                return desired
        """
    )
    child.call("resource/save", resource_data({"name": "a"}))
    child.process.kill()
    assert child.line() == b""
    os.killpg(child.process.pid, signal.SIGKILL)


def test_a_module_that_cannot_be_imported_ends_with_its_traceback_and_an_exit_code(start: Start):
    child = start("import no_such_module_anywhere")
    assert child.line() == b""
    assert child.process.wait(EXIT_SECONDS) == 1
    assert "No module named 'no_such_module_anywhere'" in child.stderr


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere_at_all:provider", "nowhere_at_all"),
        ("json:provider", "no attribute"),
        ("json:dumps", "not a Provider"),
    ],
)
def test_a_target_that_is_no_provider_is_named(tmp_path: Path, target: str, says: str):
    argv = [sys.executable, "-m", "extensor.authoring", target]
    done = subprocess.run(argv, cwd=tmp_path, input=b"", capture_output=True, timeout=30, check=False)
    assert done.returncode == 1
    assert says in done.stderr.decode()
    assert done.stdout == b""


def test_the_end_of_input_cancels_what_runs_and_leaves_no_child_behind(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            async def save(self, ctx, desired):
                inner = "import subprocess as s; p = s.Popen(['sleep', '300']); print('inner %d' % p.pid, flush=True)"
                outer = subprocess.Popen([sys.executable, "-c", f"{inner}; p.wait()"])
                print(f"outer {outer.pid}", flush=True)
                try:
                    await asyncio.sleep(60)
                finally:
                    print("canceled", flush=True)
        """
    )
    child.send("resource/save", resource_data({"name": "a"}))
    log = child.until_logged("inner").split()
    pids = [int(log[log.index(word) + 1]) for word in ("outer", "inner")]
    assert all(alive(pid) for pid in pids)
    assert child.end(EXIT_SECONDS) == 0
    assert "canceled" in child.stderr
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a child was left behind"


STUBBORN = {
    "ignores cancellation": """
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    pass
    """,
    "blocks the loop": """
            time.sleep(60)
    """,
    "has a thread that is no daemon": """
            threading.Thread(target=time.sleep, args=(60,)).start()
            await asyncio.sleep(60)
    """,
    "uses the default executor": """
            await asyncio.to_thread(time.sleep, 60)
    """,
}


def test_a_handler_that_will_not_end_does_not_hold_up_the_process(start: Start, resource_data: Data):
    head = "@provider.resource('note@1.0')\nclass Handler(ResourceHandler[Note]):\n"
    head += "    async def save(self, ctx, desired):\n            print('saving', flush=True)\n"
    children = [start(head + habit) for habit in STUBBORN.values()]
    for child in children:
        child.send("resource/save", resource_data({"name": "a"}))
    for child in children:
        child.until_logged("saving")
    began = time.monotonic()
    for child in children:
        child.stdin.close()
    for child in children:
        child.process.wait(EXIT_SECONDS + 3)
    assert time.monotonic() - began < EXIT_SECONDS + 1.5


def test_a_plain_function_that_will_not_end_does_not_hold_up_the_process(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            def save(self, ctx, desired):
                print("saving", flush=True)
                time.sleep(60)
        """
    )
    child.send("resource/save", resource_data({"name": "a"}))
    child.until_logged("saving")
    assert child.end(EXIT_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_runs_end_takes_no_more_and_exits_0(
    start: Start, resource_data: Data, tmp_path: Path, number: int
):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            async def save(self, ctx, desired):
                print("saving", flush=True)
                await asyncio.to_thread(Path("go").read_bytes)
                return desired
        """
    )
    os.mkfifo(tmp_path / "go")
    child.send("resource/save", resource_data({"name": "a"}))
    child.until_logged("saving")
    child.process.send_signal(number)
    while True:
        refused = child.call("provider/ping")
        if "error" in refused:
            break
    assert refused["error"]["data"]["transient"] is True
    (tmp_path / "go").write_bytes(b"")
    assert child.answer()["result"]["identifiers"] == {"name": "a"}
    assert child.line() == b""
    assert child.process.wait(EXIT_SECONDS) == 0
    assert "Traceback" not in child.stderr


def test_a_signal_ends_an_idle_provider_at_once(start: Start):
    child = start()
    child.call("provider/ping")
    child.process.terminate()
    assert child.line() == b""
    assert child.process.wait(EXIT_SECONDS) == 0


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(start: Start, resource_data: Data, second: int):
    child = start(SLOW)
    child.send("resource/save", resource_data({"name": "a"}))
    child.until_logged("saving")
    child.process.terminate()
    while "error" not in child.call("provider/ping"):
        continue
    began = time.monotonic()
    child.process.send_signal(second)
    assert child.process.wait(EXIT_SECONDS) == 128 + second
    assert time.monotonic() - began < 3


def test_shutdown_answers_and_then_the_end_of_input_exits_0(start: Start):
    child = start()
    assert child.call("provider/shutdown")["result"] == {}
    assert "error" in child.call("provider/ping")
    assert child.end(EXIT_SECONDS) == 0


@pytest.mark.reported("W19")
@pytest.mark.parametrize("ask", ["provider/shutdown", "resource/save"])
def test_a_host_that_closes_everything_gets_exit_code_0_and_no_trace(start: Start, resource_data: Data, ask: str):
    child = start()
    child.call("provider/ping")
    child.stdout.close()
    child.send(ask, resource_data({"name": "a"}))
    assert child.end(EXIT_SECONDS) == 0
    assert child.stderr == ""


def test_a_host_that_also_closes_stderr_gets_exit_code_0(tmp_path: Path, resource_data: Data):
    (tmp_path / "loud.py").write_text(
        "from extensor import *\nprovider = Provider('notes', '1.0.0')\n"
        "class Note(Properties):\n    name: Identifier[str]\n"
        "@provider.resource('note@1.0')\nclass Handler(ResourceHandler[Note]):\n"
        "    async def get(self, ctx, wanted):\n        ctx.log('info', 'x' * 100000)\n        return wanted\n"
    )
    argv = [sys.executable, "-m", "extensor.authoring", "loud:provider"]
    with subprocess.Popen(
        argv, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        request = {"jsonrpc": "2.0", "id": 1, "method": "resource/get", "params": resource_data({"name": "a"})}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        assert b'"result"' in process.stdout.readline()
        process.stdin.close()
        assert process.wait(EXIT_SECONDS) == 0


def test_a_provider_started_without_any_standard_descriptor_ends(tmp_path: Path):
    (tmp_path / "bare.py").write_text("from extensor import *\nprovider = Provider('notes', '1.0.0')\n")
    command = f"cd {tmp_path} && exec {sys.executable} -m extensor.authoring bare:provider <&- >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], timeout=30, check=False).returncode == 0


def test_a_handler_that_blocks_the_loop_is_told_so_by_name(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            async def save(self, ctx, desired):
                while "Handler.save has blocked" not in Path(sys.argv[0] and os.environ["LOG"]).read_text():
                    time.sleep(0.05)
                return desired
        """,
        env={"LOG": "notes_0.stderr"},
    )
    assert child.call("resource/save", resource_data({"name": "a"}))["result"]["identifiers"] == {"name": "a"}
    assert "warning: Handler.save has blocked the event loop for more than 1 s" in child.stderr
    child.until_logged("the event loop turns again")


def test_the_garbage_collector_is_tuned_unless_it_is_left_alone(start: Start, resource_data: Data):
    code = """
    import gc
    @provider.resource("note@1.0")
    class Handler(ResourceHandler[Note]):
        async def save(self, ctx, desired):
            return Note(name=desired.name, text=f"{gc.get_threshold()} {gc.get_freeze_count() > 1000}")
    """
    tuned = start(code).call("resource/save", resource_data({"name": "a"}))
    assert tuned["result"]["properties"]["text"] == "(50000, 20, 100) True"
    left = start(code, env={"EXTENSOR_GC": "default"}).call("resource/save", resource_data({"name": "a"}))
    assert left["result"]["properties"]["text"] == "(700, 10, 10) False"


def test_the_first_answer_needs_neither_anyio_nor_a_validator_nor_a_command_line(start: Start, resource_data: Data):
    child = start(
        """
        @provider.resource("note@1.0")
        class Handler(ResourceHandler[Note]):
            async def save(self, ctx, desired):
                heavy = ("anyio", "jsonschema", "jsonrpcserver", "argparse", "trio", "extensor.cli")
                return Note(name=desired.name, text=" ".join(name for name in heavy if name in sys.modules))
        """
    )
    answer = child.call("resource/save", resource_data({"name": "a"}, deadlineSeconds=30))
    assert answer["result"]["properties"]["text"] == ""


def test_a_provider_serves_many_hosts_on_a_unix_socket(
    start: Start, resource_data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # its own path may be too long for a socket
    child = start(args=("--listen", "unix:s/provider.sock"))
    child.until_logged("listening on unix:")
    place = tmp_path / "s" / "provider.sock"
    assert place.stat().st_mode & 0o777 == 0o600
    for name in ("a", "b"):
        with socket.socket(socket.AF_UNIX) as host:
            host.settimeout(10)
            host.connect("s/provider.sock")
            request = {"jsonrpc": "2.0", "id": 1, "method": "resource/save", "params": resource_data({"name": name})}
            host.sendall(json.dumps(request).encode() + b"\n")
            with host.makefile("rb") as answers:
                assert json.loads(answers.readline())["result"]["identifiers"] == {"name": name}
    child.process.terminate()
    assert child.process.wait(EXIT_SECONDS) == 0
    assert not place.exists()


def test_tcp_needs_a_token_from_the_environment_and_from_the_host(start: Start, resource_data: Data):
    refused = start(args=("--listen", "tcp:127.0.0.1:0"), env={"EXTENSOR_TOKEN": ""})
    assert refused.process.wait(EXIT_SECONDS) == 2
    assert "EXTENSOR_TOKEN" in refused.stderr
    child = start(args=("--listen", "tcp:127.0.0.1:0"), env={"EXTENSOR_TOKEN": "open sesame"})
    port = int(child.until_logged("listening on tcp:").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as host, host.makefile("rwb") as wire:
        for token, wanted in ((None, "error"), ("wrong", "error"), ("open sesame", "result")):
            params: dict[str, Any] = {"protocolVersions": ["1"], **({"token": token} if token else {})}
            for method, given in (("provider/initialize", params), ("provider/ping", {})):
                wire.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}).encode() + b"\n")
                wire.flush()
                assert wanted in json.loads(wire.readline())


@pytest.mark.reported("W30")
def test_an_address_that_cannot_be_used_is_refused_with_the_reason(start: Start):
    address = f"{'x' * 150}/p.sock"
    long = start(args=("--listen", f"unix:{address}"))
    assert long.process.wait(EXIT_SECONDS) == 1
    for part in ("cannot listen on", address, f"{len(address)} bytes", str(UNIX_PATH_LIMIT)):
        assert part in long.stderr
    assert "Traceback" not in long.stderr
    odd = start(args=("--listen", "ftp:somewhere"))
    assert odd.process.wait(EXIT_SECONDS) == 1
    assert "Traceback" not in odd.stderr


def test_commands_print_on_stdout_and_nothing_else_does(start: Start, tmp_path: Path):
    noisy = """
    print("noise")

    @provider.resource("note@1.0")
    class Handler(ResourceHandler[Note]):
        async def get(self, ctx, wanted): ...
    """
    described = start(noisy, args=("describe",))
    told = start(noisy, args=("describe", "--output", "json"))
    types = start(noisy, args=("types", "--out", "made/here"))
    others = {args: start(noisy, args=args) for args in (("--help",), ("--version",), ("--nope",), ("describe", "x"))}
    text = described.stdout.read().decode()
    assert text.splitlines()[0] == "notes 1.0.0"
    assert "note@1.0: get" in text
    assert "noise" not in text
    assert json.loads(told.stdout.read())["types"][0]["properties"][0] == {
        "path": "name",
        "type": "string",
        "flags": ["identifier", "required"],
        "description": None,
    }
    assert types.process.wait(SECONDS) == described.process.wait(SECONDS) == told.process.wait(SECONDS) == 0
    assert "note@1.0" in json.loads((tmp_path / "made/here/index.json").read_text())["resources"]
    for args, child in others.items():
        code = 0 if args[0] in ("--help", "--version") else 2
        shown = child.stdout.read()
        assert child.process.wait(SECONDS) == code
        assert (b"notes 1.0.0" in shown) == (code == 0)
        assert bool(shown) == (code == 0)


def test_a_provider_may_be_run_from_its_own_module(tmp_path: Path, resource_data: Data):
    (tmp_path / "own.py").write_text(
        "from extensor import *\nprovider = Provider('notes', '1.0.0')\nprint('at the top')\n"
        "class Note(Properties):\n    name: Identifier[str]\n"
        "@provider.resource('note@1.0')\nclass Handler(ResourceHandler[Note]):\n"
        "    def get(self, ctx, wanted):\n        return wanted\n"
        "if __name__ == '__main__':\n    provider.run()\n"
    )
    request = {"jsonrpc": "2.0", "id": 1, "method": "resource/get", "params": resource_data({"name": "a"})}
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # with it nothing can help
    done = subprocess.run(
        [sys.executable, "own.py"],
        cwd=tmp_path,
        env=env,
        input=json.dumps(request).encode(),
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["identifiers"] == {"name": "a"}
    assert done.stderr == b"at the top\n"


def test_without_a_target_the_module_says_how_to_use_it():
    argv = [sys.executable, "-m", "extensor.authoring"]
    done = subprocess.run(argv, input=b"", capture_output=True, timeout=30, check=False)
    assert done.returncode == 1
    assert b"MODULE:ATTRIBUTE" in done.stderr


UNRULY = """
@provider.resource("note@1.0")
class Handler(ResourceHandler[Note]):
    async def save(self, ctx, desired):
        match desired.text:
            case "exit":
                raise SystemExit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "task exits":
                await asyncio.create_task(self.leave(SystemExit(3)))
            case "task interrupts":
                await asyncio.create_task(self.leave(KeyboardInterrupt()))
            case "stop":
                asyncio.get_running_loop().stop()
            case "thread":
                threading.Thread(target=threading.Event().wait).start()
            case "fork":
                os.fork()
            case "fork and wait":
                if os.fork() == 0:
                    await asyncio.sleep(0)
        return desired

    async def leave(self, error):
        raise error
"""


@pytest.mark.parametrize("does", ["exit", "interrupt", "task exits", "task interrupts"])
def test_a_handler_that_exits_or_interrupts_fails_alone(start: Start, resource_data: Data, does: str):
    child = start(UNRULY)
    failed = child.call("resource/save", resource_data({"name": "a", "text": does}))
    assert failed["error"]["data"]["errors"][0]["code"] == "InternalError"
    assert failed["error"]["data"]["correlationId"] in child.stderr
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": "b"}))
    assert child.end() == 0


def test_a_handler_that_stops_the_event_loop_does_not_end_the_process(start: Start, resource_data: Data):
    child = start(UNRULY)
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": "stop"}))
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": "b"}))
    assert "stopped the event loop" in child.stderr
    assert child.end() == 0


def test_a_thread_that_a_handler_left_does_not_make_the_end_a_failure(start: Start, resource_data: Data):
    child = start(UNRULY)
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": "thread"}))
    assert child.end(6) == 0


@pytest.mark.parametrize("does", ["fork", "fork and wait"])
def test_a_process_that_a_handler_forks_answers_nothing_and_holds_up_nobody(
    start: Start, resource_data: Data, does: str
):
    child = start(UNRULY)
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": does}))
    assert "result" in child.call("resource/save", resource_data({"name": "a", "text": "b"}))
    assert child.end(6) == 0
    assert child.line() == b""
