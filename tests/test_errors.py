import inspect
import re

import pytest

from extensor import errors
from extensor.contract import ErrorCode, Failure, Fault
from extensor.errors import ExtensorError, InvalidProperty, NotFound, OperationFailed, ProviderExited, Throttled

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ExtensorError)]
EXAMPLES = {
    "InvalidProperty": lambda: InvalidProperty("name", "too long"),
    "MissingExtra": lambda: errors.MissingExtra("the Kubernetes provider", "kubernetes"),
    "ProviderExited": lambda: ProviderExited("files", -9, "last words"),
    "RpcError": lambda: errors.RpcError(-32601, ""),
}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_exception_has_something_to_say(kind: type[ExtensorError]) -> None:
    error = EXAMPLES.get(kind.__name__, lambda: kind("a reason"))()
    assert str(error).strip()


def test_the_tree_at_the_top_of_the_module_is_the_tree_of_the_code() -> None:
    drawn: list[tuple[str, str]] = []
    above: dict[int, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"([│├└─ ]*)([A-Z]\w+)(?:  |$)", line):
            depth = len(found[1]) // 4
            above[depth] = found[2]
            drawn.append((found[2], above.get(depth - 1, "Exception")))
    assert sorted(drawn) == sorted((kind.__name__, kind.__base__.__name__) for kind in CLASSES if kind.__base__)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_a_failure_becomes_the_exception_of_its_code_and_keeps_everything(code: ErrorCode) -> None:
    failure = Failure((Fault(code, "why", "$.properties.a"),), True, 2.0, {"identifiers": {}}, "c")
    error = OperationFailed.of(failure)
    assert error.failure is failure
    assert type(error) is OperationFailed or type(error).code == code


def test_a_property_error_takes_the_short_path() -> None:
    assert InvalidProperty("spec.ports[0]", "no").failure.faults[0].path == "$.properties.spec.ports[0]"
    assert InvalidProperty("$.import.config.root", "no").failure.faults[0].path == "$.import.config.root"


def test_only_errors_that_say_so_are_transient() -> None:
    assert Throttled("slow down", retry_after=2).failure.retry_after_seconds == 2
    assert Throttled("slow down").failure.transient
    assert OperationFailed("later", retry_after=1).failure.transient
    assert not NotFound().failure.transient


def test_an_exit_is_told_by_code_or_signal_with_the_end_of_stderr() -> None:
    assert "with code 3" in str(ProviderExited("p", 3))
    assert "SIGKILL" in str(ProviderExited("p", -9))
    assert "boom" in str(ProviderExited("p", -9, "boom"))


def test_several_exceptions_become_one_that_tells_all_their_faults() -> None:
    error = OperationFailed.many(
        [InvalidProperty("a", "too long"), Fault("OwnWord", "no", "$.properties.b"), InvalidProperty("c", "too short")]
    )
    assert type(error) is InvalidProperty
    assert [fault.path for fault in error.failure.faults] == ["$.properties.a", "$.properties.b", "$.properties.c"]
    assert not error.failure.transient
    with pytest.raises(ValueError, match="a fault"):
        OperationFailed.many([])


def test_several_exceptions_are_transient_only_when_each_is_and_then_for_the_longest_wait() -> None:
    both = OperationFailed.many([Throttled("one", retry_after=2), Throttled("two", retry_after=5)])
    assert (both.failure.transient, both.failure.retry_after_seconds) == (True, 5)
    mixed = OperationFailed.many([Throttled("one"), OperationFailed("two", resource={"identifiers": {"name": "a"}})])
    assert not mixed.failure.transient
    assert mixed.failure.resource == {"identifiers": {"name": "a"}}


@pytest.mark.parametrize("kind", [InvalidProperty, NotFound])
def test_help_on_an_error_with_arguments_of_its_own_speaks_of_those(kind: type[OperationFailed]) -> None:
    assert kind.__init__.__doc__
    assert kind.__init__.__doc__ != OperationFailed.__init__.__doc__
