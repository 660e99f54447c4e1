"""The function table of the expression language, one module a family.

`FUNCTIONS` maps a name in lower case to its `Function`; adding a function is adding a row in its family's module.
"""

from extensor.template.functions import (
    arrays,
    conversion,
    dates,
    lambdas,
    logic,
    network,
    numbers,
    objects,
    scoped,
    strings,
    uris,
)
from extensor.template.functions.table import Function

FUNCTIONS: dict[str, Function] = {
    function.name.lower(): function
    for family in (scoped, logic, strings, numbers, arrays, objects, lambdas, conversion, dates, uris, network)
    for function in family.FUNCTIONS
}
"""Every built-in function by its name in lower case."""

__all__ = ["FUNCTIONS", "Function"]
