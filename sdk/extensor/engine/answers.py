"""What an answer to a save must be, so that its resource can be recorded, told from others and found again."""

from collections.abc import Iterator

from extensor.contract import Fault, Json, JsonObject, ResourceResult, format_path, has_unknown
from extensor.engine.describe import duplicate_fault
from extensor.engine.identity import Identity, canonical, identity
from extensor.engine.prepare import Prepared, Run
from extensor.engine.secrecy import texts_in
from extensor.errors import TemplateError

TELLING = 8
"""Characters of a secret that are no coincidence in an identifier."""


class Answers:
    """The answers of one run. The second one about the same resource is refused, whatever the template called it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._symbols: dict[tuple[Identity, str], str] = {}

    def fault(self, prepared: Prepared, answer: ResourceResult, known: JsonObject | None) -> Fault | None:
        """Why an answer cannot stand; ``None`` for a good one. `known` are the identifiers that were asked for."""
        path = format_path(prepared.instance.decl.path)
        if shows_secret(self._run, prepared, [answer.identifiers, answer.config_id]):
            message = (
                "the provider made an identifier or its configId of a secret; they are recorded and shown, so that "
                "what was made is not recorded by them (P-SECRET-03)"
            )
            return Fault("SecretIdentifier", message, path)
        if not answer.identifiers and not known:
            message = (
                "the provider answered without identifiers, and nothing else tells which resource it made; it cannot "
                "be deleted until a deployment is answered with them (P-RESULT-02)"
            )
            return Fault("ProtocolViolation", message, path)
        return self.duplicate(prepared, answer)

    def duplicate(self, prepared: Prepared, answer: ResourceResult) -> Fault | None:
        """The fault of an answer with the identifiers of an earlier answer, to another instance."""
        if not answer.identifiers or has_unknown(answer.identifiers) or not _complete(prepared, answer.identifiers):
            return None
        alias = prepared.instance.decl.import_alias
        declared = self._run.scope.template.imports[alias]
        plane = answer.config_id or canonical(self._run.config(alias))
        key = identity(declared.provider, prepared.instance.type, answer.identifiers), plane
        other = self._symbols.setdefault(key, prepared.instance.key)
        return None if other == prepared.instance.key else duplicate_fault(self._run, prepared, other)


def shows_secret(run: Run, prepared: Prepared, value: Json) -> bool:
    """Whether a secret stands in a value, and in no open property of the resource that it could come from."""
    shown = [text for text in _leaves(value) if run.redactor.finds(text, TELLING)]
    if not shown:
        return False
    try:
        said = [text for text in texts_in(run.hidden(prepared)) if run.redactor.finds(text, TELLING)]
    except TemplateError:
        said = []
    return any(not any(open_text in text for open_text in said) for text in shown)


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float):
        yield str(value)


def _complete(prepared: Prepared, identifiers: JsonObject) -> bool:
    """Whether no identifier that the type knows is missing."""
    return prepared.shape is None or all(path[0] in identifiers for path in prepared.shape.identifiers)
