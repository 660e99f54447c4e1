"""Text to syntax tree, and back.

string     = "[" expression "]"
expression = primary { "." name | "[" expression "]" }
primary    = name [ "." name ] "(" [ expression { "," expression } ] ")" | string | integer
"""

import re
from functools import lru_cache

from extensor.template.ast import Call, Index, Literal, Member, Node
from extensor.template.lexer import Token, tokens
from extensor.template.limits import MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH
from extensor.template.refusal import Refusal

_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*\Z")


def is_expression(text: str) -> bool:
    """Whether a string of a template is an expression: ``[…]`` that does not begin with ``[[``."""
    return len(text) > 1 and text[0] == "[" and text[-1] == "]" and text[1] != "["


def literal_text(text: str) -> str:
    """What a string that is no expression stands for: ``[[x]`` means ``[x]``; one level a template level."""
    return text[1:] if text[:2] == "[[" and text[-1] == "]" else text


@lru_cache(maxsize=16_384)
def parse(text: str) -> Node:
    """The tree of a whole expression, brackets included. Equal texts are parsed once.

    Raises `Refusal` with the position of the first thing that is wrong.
    """
    if not is_expression(text):
        raise Refusal("an expression begins with '[' and ends with ']'")
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise Refusal(f"the expression has {len(text)} characters, more than the {MAX_EXPRESSION_CHARACTERS} allowed")
    return _Parser(tokens(text, 1, len(text) - 1)).whole()


def unparse(node: Node) -> str:
    """The text of a tree, without the outer brackets; `parse` gives an equal tree for it."""
    if isinstance(node, Literal):
        return quote(node.value) if isinstance(node.value, str) else str(node.value)
    if isinstance(node, Call):
        name = f"{node.namespace}.{node.name}" if node.namespace is not None else node.name
        return f"{name}({', '.join(map(unparse, node.arguments))})"
    if isinstance(node, Member):
        return unparse(node.target) + member_suffix(node.name)
    return f"{unparse(node.target)}[{unparse(node.index)}]"


def quote(text: str) -> str:
    """A string as a literal of the language."""
    return "'" + text.replace("'", "''") + "'"


def member_suffix(name: str) -> str:
    """``.name``, or ``['name']`` where the name would not parse after a dot."""
    return f".{name}" if _PLAIN_NAME.match(name) else f"[{quote(name)}]"


class _Parser:
    def __init__(self, words: list[Token]) -> None:
        self._words = words
        self._at = 0
        self._height = 0  # of the tree read last

    def whole(self) -> Node:
        node = self._expression(0)
        word = self._words[self._at]
        if word.kind != "end":
            raise Refusal(f"unexpected {_shown(word)} at character {word.start}: the expression is complete before it")
        return node

    def _expression(self, depth: int) -> Node:
        node = self._primary(depth)
        height = self._height
        while True:
            word = self._words[self._at]
            if word.kind not in {".", "["}:
                self._height = _bounded(height)
                return node
            self._at += 1
            if word.kind == ".":
                name = self._take("name", "a property name")
                node = Member(node, str(name.value), node.start, name.end)
            else:
                index = self._expression(depth + 1)
                height = max(height, self._height)
                node = Index(node, index, node.start, self._take("]", "']'").end)
            height = _bounded(height + 1)

    def _primary(self, depth: int) -> Node:
        _bounded(depth)
        word = self._words[self._at]
        self._at += 1
        if word.kind in {"string", "integer"}:
            self._height = 0
            if [one.kind for one in self._words[self._at - 1 : self._at + 2]] == ["integer", ".", "integer"]:
                raise Refusal(f"the number at character {word.start} has a fraction; write it as json('1.5')")
            return Literal(word.value, word.start, word.end)
        if word.kind != "name":
            raise Refusal(
                f"a function call, a string or an integer is due at character {word.start}, not {_shown(word)}"
            )
        namespace: str | None = None
        name = str(word.value)
        if self._words[self._at].kind == ".":
            self._at += 1
            namespace, name = name, str(self._take("name", "a function's name").value)
        if self._words[self._at].kind != "(":
            raise Refusal(
                f"'{name}' at character {word.start} is no value by itself: a function takes '()', a string quotes"
            )
        self._at += 1
        arguments: list[Node] = []
        height = 0
        if self._words[self._at].kind != ")":
            while True:
                arguments.append(self._expression(depth + 1))
                height = max(height, self._height + 1)
                if self._words[self._at].kind != ",":
                    break
                self._at += 1
        end = self._take(")", "',' or ')'").end
        self._height = _bounded(height)
        return Call(namespace, name, tuple(arguments), word.start, end)

    def _take(self, kind: str, due: str) -> Token:
        word = self._words[self._at]
        if word.kind != kind:
            raise Refusal(f"{due} is due at character {word.start}, not {_shown(word)}")
        self._at += 1
        return word


def _bounded(height: int) -> int:
    if height > MAX_EXPRESSION_DEPTH:
        raise Refusal(f"the expression nests deeper than {MAX_EXPRESSION_DEPTH} levels")
    return height


def _shown(word: Token) -> str:
    if word.kind == "end":
        return "the end"
    return "a string" if word.kind == "string" else f"'{word.value}'"
