"""Template JSON, its parameters and its expression language; evaluation where not everything is known yet."""

from extensor.template.checks import check_template
from extensor.template.model import (
    CopyDecl,
    ImportDecl,
    Output,
    Parameter,
    ResourceDecl,
    Template,
    UserFunction,
)
from extensor.template.names import ElementName
from extensor.template.parameters import check_parameters, load_parameters
from extensor.template.reader import LANGUAGE_VERSIONS, parse_template
from extensor.template.references import ReferenceExpr, references_of
from extensor.template.scope import CopyContext, Scope

__all__ = [
    "LANGUAGE_VERSIONS",
    "CopyContext",
    "CopyDecl",
    "ElementName",
    "ImportDecl",
    "Output",
    "Parameter",
    "ReferenceExpr",
    "ResourceDecl",
    "Scope",
    "Template",
    "UserFunction",
    "check_parameters",
    "check_template",
    "load_parameters",
    "parse_template",
    "references_of",
]
