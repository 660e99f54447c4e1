"""What the tests of the template room share."""

from collections.abc import Callable
from typing import Any

import pytest

from extensor.contract import Json
from extensor.template import CopyContext, Scope, parse_template

FILES = {"files": {"provider": "files", "version": "1.0.0"}}


def _scope(**members: Any) -> Scope:
    options = {
        name: members.pop(name) for name in ("given", "reference", "now", "secure_as_unknown") if name in members
    }
    document = {"languageVersion": "2.1-experimental", "imports": FILES, "resources": {}, **members}
    return Scope(parse_template(document), options.pop("given", {}), **options)


def _value(expression: Json, *, loop: CopyContext | None = None, **members: Any) -> Json:
    return _scope(**members).evaluate(expression, loop=loop)


@pytest.fixture
def scope() -> Callable[..., Scope]:
    """Make a scope from sections of a template; `given` are parameter values."""
    return _scope


@pytest.fixture
def value() -> Callable[..., Json]:
    """Evaluate one value in a scope made from sections of a template."""
    return _value
