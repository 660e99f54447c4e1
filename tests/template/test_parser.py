"""Text to tree and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.template.ast import Call, Index, Literal, Member, Node
from extensor.template.limits import MAX_EXPRESSION_DEPTH
from extensor.template.parser import is_expression, literal_text, parse, quote, unparse
from extensor.template.refusal import Refusal

NAMES = ("a", "Concat", "$x", "_y1", "__bicep", "parameters", "F00")
LITERALS = (0, 7, -(2**63), 2**63 - 1, "", "it's", "''", "[x]", "a\nb", "{0}", "ü 🚀", ")", ",", "\\")


def tree_of(choices: bytes) -> Node:
    """A tree, one choice a byte; literals where the choices end."""
    left = iter(choices)

    def name() -> str:
        return NAMES[next(left, 0) % len(NAMES)]

    def one(depth: int) -> Node:
        choice = next(left, 0) if depth < 12 else 0
        match choice % 6:
            case 0:
                return Literal(LITERALS[choice // 6 % len(LITERALS)])
            case 1 | 2:
                namespace = name() if choice % 5 == 0 else None
                return Call(namespace, name(), tuple(one(depth + 1) for _ in range(choice // 6 % 4)))
            case 3 | 4:
                return Member(one(depth + 1), name())
            case _:
                return Index(one(depth + 1), one(depth + 1))

    return one(0)


@given(st.binary(max_size=40).map(tree_of))
@settings(max_examples=500)
def test_what_is_written_from_a_tree_parses_to_the_same_tree(tree: Node) -> None:
    assert parse(f"[{unparse(tree)}]") == tree


@given(st.text(max_size=20))
def test_any_text_is_a_literal_when_it_is_quoted(text: str) -> None:
    assert parse(f"[{quote(text)}]") == Literal(text)


@given(st.text(alphabet="ab('),.[]1- \n", max_size=25))
@settings(max_examples=300)
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        tree = parse(f"[{text}]")
    except Refusal:
        return
    assert parse(f"[{unparse(tree)}]") == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("['it''s']", Literal("it's")),
        ("[-12]", Literal(-12)),
        ("[ \r\n a ( \t ) ]", Call(None, "a", ())),
        ("[ns.f(1)]", Call("ns", "f", (Literal(1),))),
        ("[a().b-c.d]", Member(Member(Call(None, "a", ()), "b-c"), "d")),
        ("[a()['b c'][0]]", Index(Index(Call(None, "a", ()), Literal("b c")), Literal(0))),
        ("['a\nb']", Literal("a\nb")),
    ],
)
def test_the_grammar_reads(text: str, tree: Node) -> None:
    assert parse(text) == tree


def test_nodes_know_where_they_stand() -> None:
    text = "[concat( 'a', b().c )]"
    root = parse(text)
    assert isinstance(root, Call)
    assert [text[node.start : node.end] for node in root.arguments] == ["'a'", "b().c"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[concat('a', 'b]", "character 13 has no closing quote"),
        ("[concat(1 2)]", "',' or ')' is due at character 10, not '2'"),
        ("[a() b()]", "unexpected 'b' at character 5"),
        ("[true]", "'true' at character 1 is no value by itself"),
        ("[1 + 2]", "unexpected '+' at character 3"),
        ("[]", "is due at character 1, not the end"),
        ("[a(]", "is due at character 3, not the end"),
        ("[1.5]", "has a fraction; write it as json('1.5')"),
        ("[9223372036854775808]", "does not fit into 64 bits"),
        ("[" + "9" * 5000 + "]", "does not fit into 64 bits"),
    ],
)
def test_what_is_wrong_is_named_with_its_position(text: str, says: str) -> None:
    with pytest.raises(Refusal, match=says.replace("(", r"\(").replace(")", r"\)").replace("+", r"\+")):
        parse(text)


@pytest.mark.parametrize(
    "deep",
    [
        "a(" * (MAX_EXPRESSION_DEPTH + 2) + ")" * (MAX_EXPRESSION_DEPTH + 2),
        "a()" + ".b" * (MAX_EXPRESSION_DEPTH + 1),
        "a()" + "[a()" * MAX_EXPRESSION_DEPTH + "]" * MAX_EXPRESSION_DEPTH + ".b" * 2,
        "a(" * 4000,
    ],
)
def test_nesting_is_bounded(deep: str) -> None:
    with pytest.raises(Refusal, match="nests deeper than 100 levels"):
        parse(f"[{deep}]")


def test_length_is_bounded() -> None:
    with pytest.raises(Refusal, match="24576 allowed"):
        parse(f"['{'x' * 24_573}']")
    assert parse(f"['{'x' * 24_572}']") == Literal("x" * 24_572)


@pytest.mark.reported("T21")
@pytest.mark.parametrize(
    ("text", "expression", "stands_for"),
    [
        ("[[x]", False, "[x]"),
        ("[x", False, "[x"),
        ("[[", False, "[["),
        ("[[x", False, "[[x"),
        (" [concat('a')]", False, " [concat('a')]"),
        ("[[[[f()]", False, "[[[f()]"),
        ("[test] value", False, "[test] value"),
        ("[", False, "["),
        ("", False, ""),
        ("[f()]", True, "[f()]"),
    ],
)
def test_one_bracket_is_taken_off_and_no_more(text: str, expression: bool, stands_for: str) -> None:
    assert is_expression(text) is expression
    assert literal_text(text) == stands_for
