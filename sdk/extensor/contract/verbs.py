"""The four verbs and their spelling on the wire; the only place where the two are mapped."""

from enum import StrEnum


class Verb(StrEnum):
    """What can be asked of a resource. The value is the Python spelling, `method` the wire's (P-METHOD-01)."""

    SAVE = "save"
    PREVIEW_SAVE = "preview_save"
    GET = "get"
    DELETE = "delete"

    @property
    def wire(self) -> str:
        """The wire spelling without its prefix, ``previewSave``; used in `provider/listTypes`."""
        return _WIRE[self]

    @property
    def method(self) -> str:
        """The JSON-RPC method, ``resource/previewSave``."""
        return f"resource/{_WIRE[self]}"

    @property
    def mutates(self) -> bool:
        """Whether the verb may change the world."""
        return self is Verb.SAVE or self is Verb.DELETE


_WIRE = {
    Verb.SAVE: "save",
    Verb.PREVIEW_SAVE: "previewSave",
    Verb.GET: "get",
    Verb.DELETE: "delete",
}

VERB_BY_METHOD = {verb.method: verb for verb in Verb}
"""JSON-RPC method name to verb."""

VERB_BY_WIRE = {verb.wire: verb for verb in Verb}
"""Wire spelling without prefix to verb."""
