"""Strict parser from tokens to expressions: ambiguous or unknown notation is rejected with the reason, never guessed.

Two notations are read both ways, because authors use both: `1/2n`, and `2\\frac13` as a product or a mixed number. A claim is
refuted only if it is false in every reading.
"""

from collections.abc import Sequence
from itertools import pairwise

from apps.mathcheck.tex.atoms import atom
from apps.mathcheck.tex.lexing import Token
from apps.mathcheck.tex.notation import ENGLISH, FUNCTION_LETTERS, GREEK, MANY, READINGS, UNARY, NotUnderstood, Reading
from apps.mathcheck.tex.tree import TOO_DEEP, Node, free_names, name, number, refuse_deep

#: Nested levels of brackets, fractions, roots and functions; parsing needs up to ten frames for each.
DEEPEST = 40
#: Tokens of one side of a relation.
LONGEST = 2_000


def parsed(tokens: Sequence[Token], functions: frozenset[str] = frozenset(), reading: Reading = READINGS[0]) -> Node:
    """One expression from all tokens; raises NotUnderstood."""
    if len(tokens) > LONGEST:
        raise NotUnderstood("it is too long to be read")
    refuse_words(tokens)
    parser = Parser(tokens, functions, reading)
    node = parser.expression()
    if not parser.done:
        raise NotUnderstood(f"`{parser.peek}` is not expected there")
    if len(tokens) > DEEPEST:
        refuse_deep(node)
    return node


def refuse_words(tokens: Sequence[Token]) -> None:
    """Reject words typed without \\text, which look like products of letters."""
    spelled = "".join(t.text if t.kind == "letter" else " " for t in tokens)
    for word in ENGLISH:
        if word in spelled:
            raise NotUnderstood(f"the letters “{word}” look like a word")
    for place, (one, two) in enumerate(pairwise(tokens)):
        if one.text == "d" and two.text in ("x", "y", "t", "u") and one.end == two.start and one.kind == "letter":
            before = [token.text for token in tokens[max(place - 4, 0) : place]]
            if before != ["{", "d", "}", "{"]:
                raise NotUnderstood("a differential")


class Parser:
    """A recursive descent over one expression."""

    def __init__(self, tokens: Sequence[Token], functions: frozenset[str], reading: Reading) -> None:
        self.tokens, self.position = tokens, 0
        self.functions, self.reading = functions, reading
        self.bars = 0
        self.depth = 0

    def enter_level(self) -> None:
        """Enter a level; raises NotUnderstood if there are too many. The caller decrements `depth` at its end."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotUnderstood(TOO_DEEP)

    @property
    def done(self) -> bool:
        return self.position >= len(self.tokens)

    @property
    def peek(self) -> str:
        return "" if self.done else self.tokens[self.position].text

    def peek_at(self, ahead: int) -> str:
        place = self.position + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def take(self) -> Token:
        if self.done:
            raise NotUnderstood("the formula ends early")
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, text: str) -> None:
        if self.peek != text:
            raise NotUnderstood(f"`{text}` is missing")
        self.position += 1

    def accept(self, *texts: str) -> str:
        if not self.done and self.peek in texts:
            return self.take().text
        return ""

    # --- sums and products

    def expression(self) -> Node:
        terms, dots_after = [self._signed(self.accept("+", "-"))], 0
        while sign := self.accept("+", "-"):
            if self.accept(r"\dots"):
                if dots_after or sign == "-":
                    raise NotUnderstood("an ellipsis that is not a plain sum")
                dots_after = len(terms)
                continue
            terms.append(self._signed(sign))
        if self.peek == r"\dots":
            raise NotUnderstood("an ellipsis without an end")
        if dots_after:
            if dots_after != len(terms) - 1 or any(term.op == "neg" for term in terms):
                raise NotUnderstood("an ellipsis that is not a plain sum")
            return Node("series", tuple(terms))
        self._refuse_spilled_bound(terms)
        return terms[0] if len(terms) == 1 else Node("add", tuple(terms))

    def _signed(self, sign: str) -> Node:
        term = self.term()
        return Node("neg", (term,)) if sign == "-" else term

    def _refuse_spilled_bound(self, terms: Sequence[Node]) -> None:
        """Reject a term with the bound name after a sum, as in `\\sum_k 2k+k`: the end of the sum is then ambiguous."""
        for place, term in enumerate(terms):
            core = term.args[0] if term.op == "neg" else term
            if core.op in ("sum", "prod") and any(str(core.value) in free_names(later) for later in terms[place + 1 :]):
                raise NotUnderstood("it is not clear where the sum ends")

    def term(self) -> Node:
        factors = [self.factor()]
        divided, dotted = False, 0
        while not self.done:
            if self.peek == r"\dots" or (self.peek == r"\cdot" and self.peek_at(1) == r"\dots"):
                self.accept(r"\cdot")
                self.take()
                self.accept(r"\cdot")
                if dotted or divided:
                    raise NotUnderstood("an ellipsis that is not a plain product")
                dotted = len(factors)
                factors.append(self._juxtaposed(self.factor()))
            elif self.accept(r"\cdot"):
                factors.append(self.factor())
            elif self.accept("/"):
                factors, divided = [Node("div", (_product(factors), self._denominator()))], True
            elif self._starts_factor():
                self._refuse_number()
                factors.append(self._mixed(factors, self.factor()))
            else:
                break
        if dotted:
            if dotted != len(factors) - 1:
                raise NotUnderstood("an ellipsis that is not a plain product")
            return Node("run", tuple(factors))
        return _product(factors)

    def _denominator(self) -> Node:
        factors = [self.factor()]
        while self.reading.tight and not self.done and self._starts_factor():
            self._refuse_number()
            factors.append(self.factor())
        return _product(factors)

    def _juxtaposed(self, last: Node) -> Node:
        factors = [last]
        while not self.done and self._starts_factor():
            self._refuse_number()
            factors.append(self.factor())
        return _product(factors)

    def _mixed(self, factors: list[Node], factor: Node) -> Node:
        whole = factors[-1]
        if self.reading.mixed and whole.op == "num" and factor.op == "div" and all(p.op == "num" for p in factor.args):
            factors.pop()
            return Node("add", (whole, factor))
        return factor

    def _refuse_number(self) -> None:
        r"""Reject `n2` and `2 3`. The power of `n2^k` and the factorial of `4!\,2!` are factors."""
        if self.tokens[self.position].kind == "num":
            if self.peek_at(1) in ("^", "!") and self.tokens[self.position - 1].kind != "num":
                return
            raise NotUnderstood("a number after a factor without a sign")

    def _starts_factor(self) -> bool:
        token = self.tokens[self.position]
        if token.kind in ("num", "letter"):
            return True
        if token.text == "|":
            return not self.bars
        return token.text in ("(", "{", "[", r"\lfloor", r"\lceil") or (
            token.kind == "cmd" and self._starts_command(token.text)
        )

    @staticmethod
    def _starts_command(text: str) -> bool:
        return (
            text in GREEK or text in UNARY or text in MANY or text in (r"\frac", r"\sqrt", r"\binom", r"\sum", r"\prod", r"\pi")
        )

    # --- factors

    def factor(self) -> Node:
        node = atom(self)
        while not self.done:
            if self.accept("^"):
                node = self._raised(node)
            elif self.accept("!"):
                if self.peek == "!":
                    raise NotUnderstood("a double factorial")
                node = Node("fn", (node,), "factorial")
            else:
                break
        return node

    def _raised(self, node: Node) -> Node:
        if self.peek == r"\circ" or (self.peek == "{" and self.peek_at(1) == r"\circ" and self.peek_at(2) == "}"):
            self.position += 1 if self.peek == r"\circ" else 3
            return Node("degrees", (node,))
        if self.peek in (r"\prime", "*", r"\cdot", r"\top", "+", "-") or (
            self.peek == "{" and self.peek_at(1) in ("(", r"\prime")
        ):
            raise NotUnderstood("a superscript that is not a power")
        power = self.argument()
        if node.op == "name" and self.peek == "(" and (node.value in self.functions or node.value in FUNCTION_LETTERS):
            raise NotUnderstood("a superscript that may be an iterate")
        return Node("pow", (node, power))

    def argument(self) -> Node:
        """An exponent or a TeX argument: a group, or one digit or sign."""
        if self.accept("{"):
            node = self.expression()
            self.expect("}")
            return node
        token = self.take()
        if token.kind == "num":
            if len(token.text) > 1:  # TeX takes one digit; an author who writes x^10 may mean either.
                raise NotUnderstood("several digits without braces")
            return number(int(token.text))
        if token.kind == "letter" or token.text in GREEK:
            return name(token.text)
        if token.text in (r"\frac", r"\pi"):
            self.position -= 1
            return atom(self)
        raise NotUnderstood(f"`{token.text}` as an argument")


def _product(factors: Sequence[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Node("mul", tuple(factors))
