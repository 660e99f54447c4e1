"""The world behind the provider: asked through the probe, made to fail by hook, trigger or proxy."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from extensor_conformance.bench import Bench
from extensor_conformance.fault_proxy import FaultProxy
from extensor_conformance.faults import HOOK_VARIABLE, Faults
from extensor_conformance.fixture import Fixture, FixtureError
from extensor_conformance.probe import Probe, ProbeFailed
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import NotTested

PROBE = """
import json, sys
question = json.load(sys.stdin)
verb = sys.argv[1]
if question["identifiers"].get("name") == "trouble":
    sys.stderr.write("no such world")
    sys.exit(4)
answers = {"exists": {"exists": question["identifiers"] == {"name": "a"}}, "list": {"objects": [{"name": "a"}]}}
sys.stdout.write(json.dumps(answers.get(verb, {"asked": question})))
"""


@pytest.fixture
def probe() -> Probe:
    return Probe((sys.executable, "-c", PROBE), config={"root": "here"})


def test_the_probe_is_asked_in_json(probe: Probe) -> None:
    assert probe.exists("box@1.0", {"name": "a"})
    assert not probe.exists("box@1.0", {"name": "b"})
    assert probe.list("box@1.0") == [{"name": "a"}]
    asked = probe.ask("mutate", "box@1.0", {"name": "a"}, {"size": 2})["asked"]
    assert asked == {
        "type": "box@1.0",
        "identifiers": {"name": "a"},
        "config": {"root": "here"},
        "change": {"size": 2},
    }


def test_a_probe_that_fails_says_nothing_of_the_provider(probe: Probe) -> None:
    with pytest.raises(ProbeFailed, match="exit code 4: no such world"):
        probe.exists("box@1.0", {"name": "trouble"})
    with pytest.raises(NotTested, match="the probe failed"):
        Probe((sys.executable, "-c", "print('x')")).exists("box@1.0", {})


def test_the_probe_runs_where_the_provider_does_and_sees_its_configuration(
    make_bench: Callable[..., Bench], tmp_path: Path
) -> None:
    code = "import json, os, sys; print(json.dumps({'folder': os.getcwd(), 'asked': json.load(sys.stdin)}))"
    subject = replace(make_bench().settings.subject, cwd=tmp_path)
    bench = make_bench(probe=(sys.executable, "-c", code), subject=subject, fixture=Fixture(config={"root": "here"}))
    told = bench.probe.ask("exists", "box@1.0", {})
    assert told == {
        "folder": str(tmp_path),
        "asked": {"type": "box@1.0", "identifiers": {}, "config": {"root": "here"}},
    }


def test_a_bench_without_a_probe_says_how_to_give_one(make_bench: Callable[..., Bench]) -> None:
    with pytest.raises(NotTested, match="--probe CMD"):
        _ = make_bench().probe


def test_a_hook_is_told_of_the_fault_for_as_long_as_it_lasts() -> None:
    faults = Faults.from_fixture({}, "hook")
    path = Path(faults.environment()[HOOK_VARIABLE])
    assert json.loads(path.read_text()) == {}
    with faults.inject("throttle", {"name": "a"}, verb="save", times=1) as properties:
        assert properties == {"name": "a"}
        assert json.loads(path.read_text()) == {"fault": "throttle", "verb": "save", "times": 1}
    assert json.loads(path.read_text()) == {}
    faults.close()
    assert not path.exists()


def test_a_trigger_puts_its_values_into_the_properties() -> None:
    faults = Faults.from_fixture({"triggers": {"throttle": {"name": "slow-down"}}}, None)
    assert (faults.offers("throttle"), faults.offers("denied")) == (True, False)
    with faults.inject("throttle", {"name": "a", "size": 1}) as properties:
        assert properties == {"name": "slow-down", "size": 1}
    with pytest.raises(NotTested, match="no fault of kind denied"), faults.inject("denied", {}):
        pass


def test_a_hook_may_offer_some_kinds_alone() -> None:
    faults = Faults.from_fixture({"hook": ["slow"]}, None)
    assert [kind for kind in ("slow", "throttle") if faults.offers(kind)] == ["slow"]
    faults.close()


class Backend(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = json.dumps([self.command, self.path, self.headers.get("X-Key"), body.decode()]).encode()
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names


@pytest.fixture
def backend() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/api"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def proxy(backend: str) -> Iterator[FaultProxy]:
    made = FaultProxy(backend)
    yield made
    made.close()


def ask(proxy: FaultProxy, method: str = "GET", body: str = "") -> tuple[int, str]:
    link = HTTPConnection(proxy.url.removeprefix("http://").removesuffix("/api"), timeout=5)
    link.request(method, "/api/things?x=1", body or None, {"X-Key": "k"})
    answer = link.getresponse()
    text = answer.read().decode("utf-8", "replace")
    link.close()
    return answer.status, text


def test_the_proxy_hands_everything_on(proxy: FaultProxy) -> None:
    assert ask(proxy, "PUT", "hello") == (200, json.dumps(["PUT", "/api/things?x=1", "k", "hello"]))


@pytest.mark.parametrize(("kind", "status"), [("throttle", 429), ("transient", 503), ("denied", 403)])
def test_the_proxy_fails_as_often_as_it_is_told(proxy: FaultProxy, kind: str, status: int) -> None:
    proxy.fail({"fault": kind, "times": 1})
    assert ask(proxy)[0] == status
    assert ask(proxy)[0] == 200


def test_the_proxy_fails_the_second_write_of_a_create(proxy: FaultProxy) -> None:
    proxy.fail({"fault": "half-create"})
    assert [ask(proxy, method)[0] for method in ("POST", "GET", "PUT")] == [200, 200, 500]


def test_the_proxy_fails_deletes_alone(proxy: FaultProxy) -> None:
    proxy.fail({"fault": "delete-fails"})
    assert [ask(proxy, method)[0] for method in ("GET", "DELETE")] == [200, 500]
    proxy.fail({})
    assert ask(proxy, "DELETE")[0] == 200


def test_a_backend_that_is_not_there_is_a_bad_gateway() -> None:
    proxy = FaultProxy("http://127.0.0.1:9/api")
    assert ask(proxy)[0] == 502
    proxy.close()


def test_the_provider_is_given_the_proxy_in_place_of_its_backend(backend: str) -> None:
    config = {"endpoint": backend, "region": "north"}
    faults = Faults.from_fixture({"proxy": "endpoint"}, None, config)
    seen = faults.config(config)
    assert seen["region"] == "north"
    assert seen["endpoint"] != backend
    assert faults.offers("denied")
    with faults.inject("denied", {}):
        assert faults.proxy is not None
        assert ask(faults.proxy)[0] == 403
    assert ask(faults.proxy)[0] == 200
    faults.close()


def test_a_proxy_without_an_address_is_a_mistake_before_anything_starts() -> None:
    with pytest.raises(FixtureError, match="proxy names the key"):
        Run(Settings(Subject(("x",)), Fixture(faults={"proxy": "endpoint"}, config={"endpoint": 5})))
