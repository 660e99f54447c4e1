"""Functions that read the scope: parameters, variables, loops, lambdas, resources, the deployment."""

from typing import TYPE_CHECKING

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.functions.dates import format_date
from extensor.template.functions.table import Function, LazyFunction, bounded_integer, integer, text
from extensor.template.refusal import Refusal
from extensor.template.residue import call_text, residue

if TYPE_CHECKING:
    from extensor.template.ast import Call
    from extensor.template.evaluator import Frame


def _name(call: "Call", frame: "Frame") -> str | Unknown:
    value = frame.value(call.arguments[0])
    return value if type(value) is Unknown else text(value, "the name")


def _parameters(call: "Call", frame: "Frame") -> Json:
    name = _name(call, frame)
    return _rest(call, name) if isinstance(name, Unknown) else frame.parameter(name)


def _variables(call: "Call", frame: "Frame") -> Json:
    name = _name(call, frame)
    return _rest(call, name) if isinstance(name, Unknown) else frame.scope.variable(name)


def _lambda_variables(call: "Call", frame: "Frame") -> Json:
    name = _name(call, frame)
    return _rest(call, name) if isinstance(name, Unknown) else frame.lambda_variable(name)


def _rest(call: "Call", name: Unknown) -> Unknown:
    return residue(call_text(call.name, [name]))


def _copy_index(call: "Call", frame: "Frame") -> Json:
    values = [frame.value(argument) for argument in call.arguments]
    loop = values.pop(0) if values and isinstance(values[0], str) else None
    index = frame.loop_index(loop)
    if not values:
        return index
    if len(values) > 1:
        raise Refusal("the arguments are the loop's name, then an offset")
    return bounded_integer(index + integer(values[0], "the offset"))


def _reference(call: "Call", frame: "Frame") -> Json:
    values = [frame.value(argument) for argument in call.arguments]
    if any(type(value) is Unknown for value in values):
        return residue(call_text("reference", values))
    full = _is_full(values[2] if len(values) > 2 else None)
    return frame.scope.resource_value(text(values[0], "the resource's name"), full=full)


def _references(call: "Call", frame: "Frame") -> Json:
    values = [frame.value(argument) for argument in call.arguments]
    if any(type(value) is Unknown for value in values):
        return residue(call_text("references", values))
    full = _is_full(values[1] if len(values) > 1 else None)
    return frame.scope.resource_values(text(values[0], "the loop's name"), full=full)


def _is_full(value: Json) -> bool:
    if value is None:
        return False
    if text(value, "the kind of reference").lower() == "full":
        return True
    raise Refusal("the last argument may only be 'full'")


def _deployment(_call: "Call", frame: "Frame") -> Json:
    return {"name": frame.scope.deployment_name}


def _utc_now(call: "Call", frame: "Frame") -> Json:
    _only_in_defaults(frame)
    pattern = frame.value(call.arguments[0]) if call.arguments else None
    if type(pattern) is Unknown:
        return residue(call_text("utcNow", [pattern]))
    return format_date(frame.scope.now, None if pattern is None else text(pattern, "the format"), basic=True)


def _new_guid(_call: "Call", frame: "Frame") -> Json:
    import uuid

    _only_in_defaults(frame)
    return str(uuid.uuid4())


def _only_in_defaults(frame: "Frame") -> None:
    if not frame.in_default:
        raise Refusal(
            "it may stand only in the default value of a parameter, so that its value is the same wherever it is used"
        )


def _needs_azure(name: str) -> LazyFunction:
    def compute(_call: "Call", _frame: "Frame") -> Json:
        raise Refusal("it asks Azure Resource Manager, which does not take part here; pass the value as a parameter")

    return LazyFunction(name, 0, None, compute)


def _lambda(_call: "Call", _frame: "Frame") -> Json:
    raise Refusal("it may stand only as an argument of map, filter, reduce, sort, toObject, groupBy or mapValues")


FUNCTIONS: tuple[Function, ...] = (
    LazyFunction("parameters", 1, 1, _parameters),
    LazyFunction("variables", 1, 1, _variables),
    LazyFunction("lambdaVariables", 1, 1, _lambda_variables),
    LazyFunction("lambda", 1, None, _lambda),
    LazyFunction("copyIndex", 0, 2, _copy_index),
    LazyFunction("reference", 1, 3, _reference),
    LazyFunction("references", 1, 2, _references),
    LazyFunction("deployment", 0, 0, _deployment),
    LazyFunction("utcNow", 0, 1, _utc_now),
    LazyFunction("newGuid", 0, 0, _new_guid),
    *(
        _needs_azure(name)
        for name in (
            "environment",
            "extensionResourceId",
            "listAccountSas",
            "listCredentials",
            "listKeys",
            "listOutputsWithSecureValues",
            "listSecrets",
            "managementGroup",
            "managementGroupResourceId",
            "pickZones",
            "providers",
            "resourceGroup",
            "resourceId",
            "subscription",
            "subscriptionResourceId",
            "tenant",
            "tenantResourceId",
        )
    ),
)
