"""Retry by contract, on a clock that the test owns and a provider that answers from a script."""

from collections.abc import Callable
from typing import Protocol

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import CallContext, Json, JsonObject, ResourceData, ResourceResult, Verb
from extensor.errors import (
    CallTimedOut,
    Canceled,
    Conflict,
    ConnectionLost,
    DeadlineExceeded,
    ExtensorError,
    InvalidProperty,
    NotFound,
    OperationFailed,
    PermissionDenied,
    ProviderExited,
    StartFailed,
    Throttled,
    Unavailable,
)
from extensor.hosting import BackOff, Clock, Operation, RetryNotice, is_unclear, shows
from extensor.hosting.timeouts import LOOK

pytestmark = pytest.mark.anyio

Step = ExtensorError | JsonObject | None


class HandClock(Clock, Protocol):
    """What the fixture `clock` gives."""

    time: float
    slept: list[float]


class Script:
    """A provider that gives its next answer, whatever it is asked, and notes what that was."""

    name = "scripted"

    def __init__(self, *steps: Step | tuple[float, Step], clock: HandClock, hidden: tuple[str, ...] = ()) -> None:
        self.steps = list(steps)
        self.clock = clock
        self.hidden = hidden
        self.asked: list[tuple[Verb, float | None]] = []
        self.times: list[float] = []
        self.recovering = anyio.Lock()

    async def call(self, verb: Verb, data: ResourceData, *, timeout: float | None = None) -> ResourceResult:
        self.asked.append((verb, timeout))
        self.times.append(self.clock.now())
        step = self.steps.pop(0)
        if isinstance(step, tuple):
            seconds, step = step
            self.clock.time += seconds
        if isinstance(step, Exception):
            raise step
        return ResourceResult(step)

    async def is_shown(self, data: ResourceData, properties: JsonObject) -> bool:
        return shows({name: value for name, value in data.properties.items() if name not in self.hidden}, properties)

    @property
    def verbs(self) -> list[Verb]:
        return [verb for verb, _ in self.asked]


def lost() -> ProviderExited:
    return ProviderExited("scripted", -9, "killed")


DONE: JsonObject = {"name": "n", "text": "t", "words": 1}


@pytest.fixture
def data(note: Callable[..., ResourceData]) -> ResourceData:
    return note("n", text="t", context=CallContext(symbolic_name="myNote"))


@pytest.mark.reported("E04", "E07")
@pytest.mark.parametrize("verb", Verb)
async def test_a_throttled_call_of_any_verb_waits_as_asked_and_then_succeeds(
    verb: Verb, data: ResourceData, clock: HandClock
):
    script = Script(Throttled("slow down", retry_after=2), Throttled("slow down", retry_after=2), DONE, clock=clock)
    result = await Operation(script, verb, data, budget=60, clock=clock).perform()
    assert result.properties == DONE
    assert script.verbs == [verb] * 3
    assert all(later - earlier >= 2 for earlier, later in zip(script.times, script.times[1:], strict=False))


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize(
    "error",
    [
        InvalidProperty("text", "no"),
        Conflict("theirs"),
        PermissionDenied("no"),
        Canceled("no"),
        OperationFailed("broken"),
    ],
)
async def test_what_is_not_transient_is_never_tried_again(
    verb: Verb, error: OperationFailed, data: ResourceData, clock: HandClock
):
    script = Script(error, clock=clock)
    with pytest.raises(type(error)) as caught:
        await Operation(script, verb, data, budget=60, clock=clock).perform()
    assert caught.value is error
    assert (len(script.asked), clock.slept) == (1, [])


async def test_without_a_time_to_wait_the_back_off_grows(data: ResourceData, clock: HandClock):
    script = Script(*[Unavailable("down")] * 4, DONE, clock=clock)
    await Operation(script, Verb.GET, data, budget=None, clock=clock).perform()
    assert clock.slept == [0.375, 0.75, 1.5, 3.0]  # half a second, doubled, less a half of a half


@pytest.mark.parametrize("moment", [0, 0.001, 0.2])
async def test_a_provider_that_always_asks_for_a_moment_is_asked_ever_more_seldom(
    moment: float, data: ResourceData, clock: HandClock
):
    script = Script(*[Throttled("slow down", retry_after=moment)] * 500, clock=clock)
    with pytest.raises(Throttled):
        await Operation(script, Verb.SAVE, data, budget=600, clock=clock).perform()
    assert clock.slept[:4] == [0.375, 0.75, 1.5, 3.0]
    assert len(script.asked) < 40


async def test_a_wait_that_would_spend_the_budget_is_not_begun(data: ResourceData, clock: HandClock):
    script = Script(Throttled("slow down", retry_after=2), Throttled("slow down", retry_after=100), clock=clock)
    with pytest.raises(Throttled):
        await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert clock.slept == [2.1]


async def test_each_try_may_take_what_is_left_of_the_budget(data: ResourceData, clock: HandClock):
    script = Script((5, Throttled("slow down", retry_after=10)), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.asked == [(Verb.SAVE, 60), (Verb.SAVE, 60 - 5 - 10.5)]


@pytest.mark.reported("E03")
async def test_without_a_budget_no_try_has_a_limit(data: ResourceData, clock: HandClock):
    script = Script((5000, Unavailable("down")), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=None, clock=clock).perform()
    assert [timeout for _, timeout in script.asked] == [None, None]


@pytest.mark.parametrize("error", [lost(), ConnectionLost("gone"), DeadlineExceeded("late")])
async def test_an_unclear_save_that_was_done_is_answered_by_get(
    error: ExtensorError, data: ResourceData, clock: HandClock
):
    script = Script(error, DONE, clock=clock)
    result = await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert result.properties == DONE
    assert script.verbs == [Verb.SAVE, Verb.GET]
    assert clock.slept == []  # the first look is at once


@pytest.mark.parametrize("seen", [NotFound(), DONE | {"text": "old"}])
async def test_an_unclear_save_that_was_not_done_is_saved_again(seen: Step, data: ResourceData, clock: HandClock):
    script = Script(lost(), seen, DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET, Verb.SAVE]


async def test_a_write_only_property_cannot_show_and_is_not_asked_of_get(
    note: Callable[..., ResourceData], clock: HandClock
):
    script = Script(lost(), DONE, clock=clock, hidden=("password",))
    data = note("n", text="t", password="p")
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET]


async def test_a_provider_that_cannot_get_is_asked_to_save_again(data: ResourceData, clock: HandClock):
    script = Script(lost(), OperationFailed("no get", code="OperationNotSupported"), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET, Verb.SAVE]


async def test_a_get_that_fails_for_good_leaves_the_save_unclear_and_unrepeated(data: ResourceData, clock: HandClock):
    script = Script(lost(), PermissionDenied("you may not look"), clock=clock)
    with pytest.raises(ProviderExited, match="not known whether the save happened; a get failed: you may not look"):
        await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()


async def test_a_get_that_is_throttled_is_waited_for(data: ResourceData, clock: HandClock):
    script = Script(lost(), Throttled("slow down", retry_after=4), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET, Verb.GET]
    assert script.times[2] - script.times[1] >= 4


@pytest.mark.reported("E03")
async def test_a_save_that_ran_out_of_time_is_looked_at_once_more(data: ResourceData, clock: HandClock):
    script = Script((61, CallTimedOut("late")), DONE, clock=clock)
    result = await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert result.properties == DONE
    assert [verb for verb, _ in script.asked] == [Verb.SAVE, Verb.GET]
    assert script.asked[1][1] is not None


@pytest.mark.reported("E03")
async def test_a_save_that_ran_out_of_time_and_does_not_show_says_so_and_is_not_repeated(
    data: ResourceData, clock: HandClock
):
    script = Script((61, CallTimedOut("late")), NotFound("no such note"), clock=clock)
    with pytest.raises(CallTimedOut, match="late; a get says: no such note; it was not saved again"):
        await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()


async def test_a_look_at_the_end_of_the_budget_has_time_enough(data: ResourceData, clock: HandClock):
    script = Script((59.99, DeadlineExceeded("late")), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.asked[1] == (Verb.GET, LOOK)


async def test_an_unclear_save_without_a_budget_is_looked_at_without_a_limit(data: ResourceData, clock: HandClock):
    script = Script(lost(), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=None, clock=clock).perform()
    assert script.asked[1] == (Verb.GET, None)


async def test_a_get_that_ran_out_of_time_just_fails(data: ResourceData, clock: HandClock):
    script = Script((61, CallTimedOut("late")), clock=clock)
    with pytest.raises(CallTimedOut):
        await Operation(script, Verb.GET, data, budget=60, clock=clock).perform()
    assert len(script.asked) == 1


@pytest.mark.parametrize("verb", [Verb.GET, Verb.PREVIEW_SAVE, Verb.DELETE])
async def test_a_lost_provider_is_tried_again_with_the_same_verb(verb: Verb, data: ResourceData, clock: HandClock):
    script = Script(lost(), DONE, clock=clock)
    await Operation(script, verb, data, budget=60, clock=clock).perform()
    assert script.verbs == [verb, verb]


async def test_an_operation_that_ends_its_provider_each_time_is_given_up(data: ResourceData, clock: HandClock):
    script = Script(lost(), lost(), lost(), clock=clock)
    with pytest.raises(ProviderExited):
        await Operation(script, Verb.GET, data, budget=6000, clock=clock).perform()


async def test_a_save_that_ends_its_provider_each_time_is_looked_at_and_given_up(data: ResourceData, clock: HandClock):
    script = Script(lost(), NotFound(), lost(), NotFound(), lost(), NotFound(), clock=clock)
    with pytest.raises(ProviderExited, match="it was not saved again"):
        await Operation(script, Verb.SAVE, data, budget=6000, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET] * 3


async def test_a_provider_that_never_started_is_not_tried_again(data: ResourceData, clock: HandClock):
    script = Script(StartFailed("no such file"), clock=clock)
    with pytest.raises(StartFailed):
        await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()


async def test_a_provider_that_fails_to_start_again_is_given_another_chance(data: ResourceData, clock: HandClock):
    script = Script(lost(), StartFailed("port in use"), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert script.verbs == [Verb.SAVE, Verb.GET, Verb.GET]


async def test_from_the_second_loss_on_operations_are_tried_one_at_a_time(data: ResourceData, clock: HandClock):
    script = Script(lost(), lost(), DONE, clock=clock)
    locked: list[bool] = []
    call = script.call

    async def watched(verb: Verb, data: ResourceData, *, timeout: float | None = None) -> ResourceResult:
        locked.append(script.recovering.locked())
        return await call(verb, data, timeout=timeout)

    script.call = watched
    await Operation(script, Verb.GET, data, budget=60, clock=clock).perform()
    assert locked == [False, False, True]


async def test_each_wait_is_announced_with_what_follows(data: ResourceData, clock: HandClock):
    heard: list[RetryNotice] = []
    script = Script(Throttled("slow down", retry_after=2), lost(), NotFound(), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock, on_retry=heard.append).perform()
    assert [(n.attempt, n.code, n.next) for n in heard] == [
        (1, "Throttled", "retry"),
        (2, "ProviderExited", "look"),
        (3, "ProviderExited", "retry"),
    ]
    assert {(n.provider, n.verb, n.type, n.symbolic_name) for n in heard} == {
        ("scripted", Verb.SAVE, "note@1.0", "myNote")
    }
    assert [n.delay for n in heard] == [2.1, 0, 0]


async def test_the_second_loss_of_the_provider_is_followed_by_a_wait(data: ResourceData, clock: HandClock):
    script = Script(lost(), NotFound(), lost(), NotFound(), DONE, clock=clock)
    await Operation(script, Verb.SAVE, data, budget=60, clock=clock).perform()
    assert [later - earlier > 0 for earlier, later in zip(script.times, script.times[1:], strict=False)] == [
        False,
        False,
        True,
        True,
    ]


def test_what_is_unclear_after_a_save():
    assert all(map(is_unclear, [lost(), ConnectionLost("x"), CallTimedOut("x"), DeadlineExceeded("x")]))
    assert not any(map(is_unclear, [Throttled("x"), Conflict("x"), StartFailed("x"), NotFound()]))


@given(
    st.integers(1, 10_000),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1e6),
)
def test_a_back_off_is_bounded_and_never_shorter_than_asked(attempt: int, chance: float, asked: float):
    back_off = BackOff()
    assert 0.25 <= back_off.delay(attempt, chance) <= 30
    least = back_off.delay(attempt, chance)
    assert max(asked, least) <= back_off.after(asked, attempt, chance) <= max(asked * 1.1 + 1e-9, least)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_value_shows_itself(value: Json):
    assert shows(value, value)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3), st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_more_properties_than_given_do_not_hide_what_was_given(given_: JsonObject, more: JsonObject):
    assert shows(given_, more | given_)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        ({"a": 1}, {"a": True}),
        ({"a": []}, {"a": None}),
        ({"a": {}}, {"a": None}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}),
        ({"a": "1"}, {"a": 1}),
    ],
)
def test_what_was_given_and_is_not_there_does_not_show(given_: JsonObject, shown: JsonObject):
    assert not shows(given_, shown)


def test_a_given_null_shows_by_absence():
    assert shows({"a": None, "b": 1}, {"b": 1.0})
