"""Where secrets of parameters and resources show through: what is learnt of them, and what they make secret in turn."""

import base64
from collections.abc import Callable, Iterator
from hashlib import sha256

from extensor.contract import Fault, Json, JsonObject, Path, Unknown, find_unknowns, format_path
from extensor.contract.redaction import MASK, Redactor
from extensor.engine.diff import masked, names_of, same
from extensor.errors import TemplateError
from extensor.template import Scope
from extensor.types import Shape


class RunRedactor(Redactor):
    """Masks also what a provider may make of a secret that it was given: a plain digest (P-SECRET-03), and the text
    that stands in base64."""

    def add(self, secret: str) -> None:
        """Learn a secret value."""
        super().add(secret)
        super().add(sha256(secret.encode("utf-8", "surrogatepass")).hexdigest())
        try:
            content = base64.b64decode(secret, validate=True)
            super().add(sha256(content).hexdigest())
            super().add(content.decode())
        except ValueError:  # it is no base64, or of no text
            return


def veiled(name: str, value: Json, shape: Shape | None, moved: frozenset[str] = frozenset()) -> Json:
    """A copy of a resource's body in which each secret is an `Unknown`, and so is what stands under the names in
    `moved`; the body itself when there is neither."""
    if not isinstance(value, dict):
        return value
    if moved:
        value = {key: Unknown(expression_of(name, (key,))) if key in moved else item for key, item in value.items()}
    if shape is None:
        return value
    shown = shape.mask(value)
    return value if shown is value else _veil(value, shown, name, ())


def moved_names(given: JsonObject, tainted: frozenset[Path], shown: JsonObject, shape: Shape | None) -> frozenset[str]:
    """The properties of an answer that may show what was given as a secret elsewhere: text for bytes, a digest, a size.

    Where a property whose value depends on a secret is not shown in its place, those are the ones that were not given,
    but for identifiers. A write-only property has no place to be shown in, so that nothing follows from its absence.
    """
    if shape is None:
        return frozenset()
    hidden = {names_of(path) for path in shape.write_only}
    own = {path[0] for path in shape.identifiers}
    if all(not path or _stands_at(shown, path) or names_of(path) in hidden for path in tainted):
        return frozenset()
    return frozenset(name for name in shown if name not in given and name not in own)


def tainted_paths(known: Json, hidden: Json) -> frozenset[Path]:
    """Places in a value that are unknown only where secrets are: what is there depends on a secret."""
    return frozenset(path for path, _ in find_unknowns(hidden) if not _is_unknown_at(known, path))


def learn(redactor: Redactor, shape: Shape | None, *bodies: Json) -> bool:
    """Have the redactor know every secret in the bodies of a resource, whoever made it. True if there is one."""
    found = [secret for body in bodies if shape and isinstance(body, dict) for secret in shape.secrets_in(body)]
    for secret in found:
        redactor.learn(secret)
    return bool(found)


def learn_derived(redactor: Redactor, value: Json, tainted: frozenset[Path], words: str) -> None:
    """Have the redactor know what was made of secrets, but for texts in `words`, which everyone sees."""
    for path in tainted:
        if _stands_at(value, path):
            for text in texts_in(_at(value, path)):
                if text not in words:
                    redactor.add(text)


def texts_in(value: Json) -> Iterator[str]:
    """Names and values, as text."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def names_in(value: Json) -> list[Json]:
    """The names inside a value."""
    if isinstance(value, dict):
        return [*value, *(name for item in value.values() for name in names_in(item))]
    return [name for item in value for name in names_in(item)] if isinstance(value, list) else []


def shown_outputs(scope: Scope, secretless: Scope, redactor: Redactor) -> JsonObject:
    """Every output's value as it may be shown: masked where it depends on a secret (P-SECRET-03), and where one shows.

    Raises `TemplateError`.
    """
    declared = scope.template.outputs
    return {
        name: MASK if declared[name].secure else masked(value, redactor, _taint(value, name, secretless))
        for name, value in scope.outputs().items()
    }


def secret_identifiers(paths: frozenset[Path], shape: Shape | None, place: Path) -> list[Fault]:
    """The identifiers that depend on a secret. `paths` are tainted places; `place` is where the body stands."""
    if shape is None:
        return []
    return [
        Fault(
            "SecretIdentifier",
            "an identifier is recorded and shown, so it must not come from a secure parameter or a secret property",
            format_path((*place, *path)),
        )
        for path in sorted(paths, key=repr)
        if _touches(names_of(path), shape)
    ]


def veiling(
    reference: Callable[[str], Json], known_of: Callable[[str], tuple[Shape | None, frozenset[str]]]
) -> Callable[[str], Json]:
    """The same references without what is secret in them; `known_of` tells a resource's shape and `moved_names`."""
    return lambda name: veiled(name, reference(name), *known_of(name))


def _taint(value: Json, name: str, secretless: Scope) -> frozenset[Path]:
    try:
        hidden = secretless.output(secretless.template.outputs[name])
    except TemplateError:  # it cannot be told without the secrets, so all of it depends on them
        return frozenset({()})
    return tainted_paths(value, hidden)


def _touches(names: tuple[str, ...], shape: Shape) -> bool:
    return any(names[: len(own)] == own or own[: len(names)] == names for own in shape.identifiers)


def _veil(value: Json, shown: Json, name: str, path: Path) -> Json:
    if isinstance(value, dict) and isinstance(shown, dict):
        return {key: _veil(item, shown.get(key), name, (*path, key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(shown, list):
        return [_veil(item, shown[index], name, (*path, index)) for index, item in enumerate(value)]
    return value if type(value) is Unknown or same(value, shown) else Unknown(expression_of(name, path))


def expression_of(name: str, path: Path) -> str:
    """The expression for a place in a resource's properties."""
    return "[reference('{}'){}]".format(name.replace("'", "''"), format_path(path)[1:])


def _is_unknown_at(body: Json, path: Path) -> bool:
    for part in path:
        if type(body) is Unknown:
            return True
        try:
            body = body[part]
        except (KeyError, IndexError, TypeError):
            return False
    return type(body) is Unknown


def _stands_at(body: Json, path: Path) -> bool:
    for part in path:
        try:
            body = body[part]
        except (KeyError, IndexError, TypeError):
            return False
    return body is not None


def _at(body: Json, path: Path) -> Json:
    for part in path:
        body = body[part]
    return body
