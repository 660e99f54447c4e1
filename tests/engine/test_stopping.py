"""A stop between two tries of a call: at once, and told as what it is."""

import anyio
import pytest

from extensor.contract import Verb
from extensor.errors import ProviderExited, Unavailable
from extensor.hosting.notices import RetryNotice

pytestmark = pytest.mark.anyio


@pytest.fixture
def retrying(monkeypatch, world):
    """A session that says that its first try failed and waits an hour for the second one."""

    def arrange(stop: anyio.Event, *, then: str = "retry", before_the_wait: bool = False) -> None:
        session_type = world.session_type
        plain = session_type.perform

        async def perform(self, verb, data, *, budget, on_retry=None):
            if not verb.mutates:
                return await plain(self, verb, data, budget=budget, on_retry=on_retry)
            if before_the_wait:
                stop.set()
                await anyio.wait_all_tasks_blocked()
            on_retry(RetryNotice("boxes", verb, data.type, None, 1, 3600.0, "Unavailable", "it is down", then))
            stop.set()
            await anyio.sleep(3600)
            raise AssertionError("nobody waits for an hour")

        monkeypatch.setattr(session_type, "perform", perform)

    return arrange


@pytest.mark.parametrize("before_the_wait", [False, True])
async def test_a_stop_between_two_tries_of_a_save_is_canceled_at_once(
    stack, world, make, retrying, before_the_wait
) -> None:
    stop = anyio.Event()
    retrying(stop, before_the_wait=before_the_wait)
    entries = make.template({"a": make.box("a"), "b": make.box("b", needs=["a"])})
    with anyio.fail_after(5):
        result = await stack.deploy(entries, stop=stop)
    assert result.status == "Canceled"
    assert {outcome.symbolic_name: outcome.status for outcome in result.resources} == {"a": "Canceled", "b": "Canceled"}
    (fault,) = result.resources[0].faults
    assert fault.code == "Canceled"
    assert "Unavailable: it is down" in fault.message
    assert [record.status for record in stack.show().resources] == ["Failed"]


async def test_a_stop_while_a_save_is_unclear_leaves_it_unclear(stack, world, make, retrying) -> None:
    stop = anyio.Event()
    retrying(stop, then="look")
    with anyio.fail_after(5):
        result = await stack.deploy(make.template({"a": make.box("a")}), stop=stop)
    assert (result.status, result.resources[0].status) == ("Canceled", "Unclear")
    assert [record.status for record in stack.show().resources] == ["Unclear"]


async def test_a_stop_between_two_tries_of_a_delete_keeps_the_record(stack, world, make, retrying) -> None:
    await stack.deploy(make.template({"a": make.box("a")}))
    stop = anyio.Event()
    retrying(stop)
    with anyio.fail_after(5):
        result = await stack.destroy(stop=stop)
    assert (result.status, [outcome.status for outcome in result.resources]) == ("Canceled", ["Canceled"])
    assert [record.symbolic_name for record in stack.show().resources] == ["a"]


async def test_the_record_keeps_no_output_of_a_providers_process(stack, world, make, tmp_path) -> None:
    def die(verb, data):
        raise ProviderExited("boxes", 4, "canary of the process\nin two lines")

    world.after = die
    result = await stack.deploy(make.template({"a": make.box("a")}))
    assert "canary" in result.resources[0].faults[0].message
    (record,) = stack.show().resources
    assert record.note == "ProviderExited: provider boxes exited with code 4"
    assert all(b"canary" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


async def test_a_note_on_record_is_one_line(stack, world, make) -> None:
    def fail(verb, data):
        raise Unavailable("first\nsecond")

    world.before = fail
    await stack.deploy(make.template({"a": make.box("a")}))
    assert [record.note for record in stack.show().resources] == ["Unavailable: first"]


async def test_an_answer_about_another_resource_fails_and_is_recorded_under_the_one_that_was_asked_for(
    stack, world, make
) -> None:
    world.identify = lambda properties: {"name": "other"}
    result = await stack.deploy(make.template({"a": make.box("a")}))
    (outcome,) = result.resources
    assert (outcome.status, outcome.faults[0].code) == ("Unclear", "ProtocolViolation")
    assert '{"name": "a"}' in outcome.faults[0].message
    assert '{"name": "other"}' in outcome.faults[0].message
    assert [record.identifiers for record in stack.show().resources] == [{"name": "a"}]
    world.identify = lambda properties: {"name": properties["name"]}
    world.boxes["", "other"] = {"name": "other"}
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == {"other"}
    assert world.verbs(Verb.DELETE) == ["a"]
