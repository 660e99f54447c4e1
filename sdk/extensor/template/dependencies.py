"""What a resource waits for."""

from typing import TYPE_CHECKING

from extensor.contract.paths import Path, format_path
from extensor.errors import TemplateError
from extensor.template.evaluator import Frame, evaluate
from extensor.template.model import ResourceDecl
from extensor.template.references import ReferenceExpr, name_expression, references_of
from extensor.template.refusal import Refusal, shortened

if TYPE_CHECKING:
    from extensor.template.scope import Scope


class Dependencies:
    """Finds the names in a resource's declaration once, and what they mean for each element of its loop."""

    def __init__(self, scope: "Scope") -> None:
        self._scope = scope
        self._found: dict[str, list[tuple[Path, str | ReferenceExpr]]] = {}

    def of(self, declared: ResourceDecl, frame: Frame) -> set[str]:
        """See `Scope.dependencies`."""
        found: set[str] = set()
        for path, reference in self._references_in(declared):
            try:
                found.add(self._target(reference, frame))
            except Refusal as refusal:
                raise TemplateError(str(refusal), format_path(path)) from None
        return found

    def _references_in(self, declared: ResourceDecl) -> list[tuple[Path, str | ReferenceExpr]]:
        found = self._found.get(declared.symbol)
        if found is None:
            found = []
            for at, text in enumerate(declared.depends_on):
                path: Path = (*declared.path, "dependsOn", at)
                try:
                    found.append((path, name_expression(text)))
                except Refusal as refusal:
                    raise TemplateError(f"{refusal}; in {shortened(text)}", format_path(path)) from None
            loop = None if declared.copy is None else declared.copy.count
            for member, value in (
                ("properties", declared.properties),
                ("condition", declared.condition),
                ("copy", loop),
            ):
                path = (*declared.path, member)
                found.extend((path, reference) for reference in references_of(value, self._scope.template))
            self._found[declared.symbol] = found
        return found

    def _target(self, reference: str | ReferenceExpr, frame: Frame) -> str:
        names = self._scope.names
        if isinstance(reference, str):
            return str(names.resolve(reference))
        try:
            with self._scope.evaluation():
                name = evaluate(reference.node, frame)
        except (Refusal, TemplateError):
            name = None
        if isinstance(name, str):
            return str(names.resolve(name))
        if reference.symbol is None:
            raise Refusal(
                f"which resource '{reference.text}' names is not known before it runs; name it by a literal string"
            )
        return str(names.resolve(reference.symbol))
