"""Parses atomic parts of an expression: names, groups, functions, fractions, roots, sums."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from apps.mathcheck.tex.lexing import Token
from apps.mathcheck.tex.notation import AMBIGUOUS_LETTERS, CLOSERS, FUNCTION_LETTERS, GREEK, MANY, UNARY, NotUnderstood
from apps.mathcheck.tex.tree import Node, free_names, name, number

if TYPE_CHECKING:
    from apps.mathcheck.tex.parsing import Parser

KINDS = {r"\sum": "sum", r"\prod": "prod"}


def atom(parser: "Parser") -> Node:
    """The next part; raises NotUnderstood."""
    parser.enter_level()
    node = _atom(parser)
    parser.depth -= 1
    return node


def _atom(parser: "Parser") -> Node:
    token = parser.take()
    text = token.text
    if token.kind == "num":
        if parser.peek == "_":
            raise NotUnderstood("a number with a base")
        return number(Fraction(text))
    if token.kind == "letter" or text in GREEK:
        return _named(parser, token)
    if text in CLOSERS:
        return _grouped(parser, text)
    if text in UNARY:
        return _unary(parser, text[1:])
    if text in MANY:
        return Node("fn", tuple(_list(parser)), text[1:])
    special = _COMMANDS.get(text)
    if special is None:
        raise NotUnderstood(f"`{text}` is not known")
    return special(parser, text)


def _grouped(parser: "Parser", opener: str) -> Node:
    if opener in ("[", r"\{"):
        raise NotUnderstood("brackets that may be a floor, an interval or a set")
    bars, parser.bars = parser.bars, parser.bars + 1 if opener == "|" else 0
    inner = parser.expression()
    parser.bars = bars
    if parser.peek == ",":
        raise NotUnderstood("a pair or a list")
    parser.expect(CLOSERS[opener])
    if opener in ("(", "{"):
        if parser.peek == "_":
            raise NotUnderstood("a group with an index")
        return inner
    function = {"|": "abs", r"\lfloor": "floor", r"\lceil": "ceil"}[opener]
    return Node("fn", (inner,), function)


def _list(parser: "Parser") -> list[Node]:
    """At least two arguments in ( ) or \\{ \\}."""
    opener = parser.accept("(", r"\{")
    if not opener:
        raise NotUnderstood("a function of several numbers without brackets")
    items = [parser.expression()]
    while parser.accept(","):
        items.append(parser.expression())
    parser.expect(CLOSERS[opener])
    if len(items) < 2:
        raise NotUnderstood("a list of one")
    return items


def _unary(parser: "Parser", function: str) -> Node:
    base: Node | None = None
    power: Node | None = None
    if parser.accept("_"):
        if function != "log":
            raise NotUnderstood("a function with an index")
        base = parser.argument()
    if parser.accept("^"):
        power = parser.argument()
        if power.op != "num" or (power.value or 0) == -1:
            raise NotUnderstood("a power of a function that may be its inverse")
    node = Node("fn", (_operand(parser), *([base] if base else [])), function)
    return Node("pow", (node, power)) if power else node


def _operand(parser: "Parser") -> Node:
    """The argument of a function: `\\sin 2x`, `\\ln x`; if there are brackets, only their content."""
    if parser.peek in ("(", "{"):
        return atom_with_power(parser)
    factors = [parser.factor()]
    while not parser.done and parser.peek not in ("(", "{", "|") and parser.peek not in UNARY and _continues(parser):
        factors.append(parser.factor())
    if parser.peek == "(":
        raise NotUnderstood("it is not clear where the argument ends")
    if parser.peek == "/" and len(factors) == 1 and factors[0].op == "name":
        raise NotUnderstood("it is not clear where the argument ends")
    return factors[0] if len(factors) == 1 else Node("mul", tuple(factors))


def atom_with_power(parser: "Parser") -> Node:
    """A bracket as an argument; `\\ln(x)^2` has two meanings."""
    node = atom(parser)
    if parser.peek == "^":
        raise NotUnderstood("a power after a function's brackets")
    if parser.peek == "!":
        raise NotUnderstood("a factorial after a function's brackets")
    return node


def _continues(parser: "Parser") -> bool:
    token = parser.tokens[parser.position]
    return token.kind == "letter" or token.text in GREEK or token.text in (r"\pi", r"\frac", r"\sqrt")


def _named(parser: "Parser", token: Token) -> Node:
    spelled, ahead = token.text, parser.tokens[parser.position] if not parser.done else None
    if token.kind == "letter" and spelled.isupper() and ahead is not None and ahead.kind == "letter" and ahead.text.isupper():
        raise NotUnderstood("capitals side by side may be a segment or a product")
    index: Node | None = None
    if parser.accept("_"):
        spelled, index = _indexed(parser, spelled)
    primes = 0
    while parser.accept("'"):
        primes += 1
    if parser.peek == "^" and parser.peek_at(1) in (r"\prime",):
        raise NotUnderstood("a superscript that is not a power")
    if parser.peek == "_":
        raise NotUnderstood("an index of an index")
    if parser.peek == "(" and index is None and _is_function(parser, token.text, primes):
        parser.take()
        items = [parser.expression()]
        while parser.accept(","):
            items.append(parser.expression())
        parser.expect(")")
        return Node("apply", tuple(items), spelled + "'" * primes)
    if index is not None:
        if parser.peek == "(":
            raise NotUnderstood("an indexed function or a product")
        return Node("item", (index,), spelled + "'" * primes)
    return name(spelled + "'" * primes)


def _indexed(parser: "Parser", spelled: str) -> tuple[str, Node | None]:
    start = parser.position
    if parser.peek == "{":
        depth, place = 0, start
        while place < len(parser.tokens):
            depth += {"{": 1, "}": -1}.get(parser.tokens[place].text, 0)
            place += 1
            if not depth:
                break
        inner = parser.tokens[start + 1 : place - 1]
        if len(inner) == 1 and inner[0].kind == "num":
            parser.position = place
            return f"{spelled}_{inner[0].text}", None
        parser.take()
        index = parser.expression()
        if parser.accept(","):
            raise NotUnderstood("a double index")
        parser.expect("}")
        return spelled, index
    token = parser.take()
    if token.kind == "num" and len(token.text) == 1:
        return f"{spelled}_{token.text}", None
    if token.kind == "letter" or token.text in GREEK:
        return spelled, name(token.text)
    raise NotUnderstood("an index")


def _is_function(parser: "Parser", letter: str, primes: int) -> bool:
    """Whether `letter(` applies a function; raises NotUnderstood if a product is as likely."""
    if letter in parser.functions or letter in FUNCTION_LETTERS or primes:
        return True
    depth, place = 0, parser.position
    while place < len(parser.tokens):
        depth += {"(": 1, ")": -1}.get(parser.tokens[place].text, 0)
        place += 1
        if not depth:
            break
    inner = parser.tokens[parser.position + 1 : place - 1]
    if len(inner) <= 1 or any(t.text == "," for t in inner):
        raise NotUnderstood(f"{letter}(…) may be a function or a product")
    if letter in AMBIGUOUS_LETTERS and not any(t.text == letter for t in inner):
        raise NotUnderstood(f"{letter}(…) may be a function or a product")
    return False


def _fraction(parser: "Parser", _command: str) -> Node:
    if parser.peek == "{" and parser.peek_at(1) == "d":
        return _derivative(parser)
    return Node("div", _two_arguments(parser))


def _two_arguments(parser: "Parser") -> tuple[Node, Node]:
    r"""The arguments of `\frac12`, `\binom{n}{k}` and the like: two digits are one each."""
    if len(parser.peek) == 2 and parser.peek.isdigit():
        both = parser.take().text
        return number(int(both[0])), number(int(both[1]))
    return parser.argument(), parser.argument()


def _derivative(parser: "Parser") -> Node:
    """`\\frac{d}{dx}` before its operand."""
    shape = [parser.peek_at(place) for place in range(7)]
    if shape[:5] != ["{", "d", "}", "{", "d"] or shape[6] != "}" or not shape[5].isalpha():
        raise NotUnderstood("a derivative written as a fraction")
    parser.position += 7
    return Node("deriv", (parser.factor(),), shape[5])


def _root(parser: "Parser", _command: str) -> Node:
    if parser.accept("["):
        degree = parser.expression()
        parser.expect("]")
        return Node("fn", (parser.argument(), degree), "root")
    return Node("fn", (parser.argument(),), "sqrt")


def _binomial(parser: "Parser", _command: str) -> Node:
    return Node("fn", _two_arguments(parser), "binom")


def _big(parser: "Parser", command: str) -> Node:
    parser.expect("_")
    parser.expect("{")
    bound = parser.take()
    if bound.kind != "letter" or parser.peek != "=":
        raise NotUnderstood("a sum over something other than k = a to b")
    parser.take()
    low = parser.expression()
    parser.expect("}")
    parser.expect("^")
    high = parser.argument()
    body = parser.term()
    if bound.text in free_names(low) | free_names(high):
        raise NotUnderstood("a sum whose bounds use its own variable")
    return Node(KINDS[command], (low, high, body), bound.text)


def _pi(parser: "Parser", _command: str) -> Node:
    if parser.peek in ("(", "_"):
        raise NotUnderstood("π as a function")
    return Node("const", value="pi")


_COMMANDS: dict[str, Callable[["Parser", str], Node]] = {
    r"\frac": _fraction,
    r"\sqrt": _root,
    r"\binom": _binomial,
    r"\sum": _big,
    r"\prod": _big,
    r"\pi": _pi,
}
