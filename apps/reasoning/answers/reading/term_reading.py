"""Read expressions from tokens by precedence.

Ambiguous spellings are read in the usual meaning, and the reader notes them, so that a comparison can try the other.
"""

from collections.abc import Sequence

from apps.reasoning.answers.reading.lexing import Token
from apps.reasoning.answers.values.terms import CONSTANTS, MINUS_ONE, Term, add, depth_of, is_mixed_number, minus, mul, number
from apps.reasoning.answers.vocabulary import words
from apps.reasoning.answers.work import Unreadable

MOST_NESTED = 30
MOST_DEEP = 80
_GREEK = words(
    r"\alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta \kappa \lambda \mu \nu \xi \rho \sigma \tau"
    r" \phi \varphi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Phi \Psi \Omega \ell \infty"
)
FUNCTIONS = words("sin cos tan cot log ln exp floor ceil gcd lcm max min atan")
_CALLED = {f"\\{name}": name for name in FUNCTIONS}
#: Names of functions if a bracket follows; of these only is known that equal arguments give equal values.
_UNKNOWN_FUNCTIONS = frozenset(("f", "g", "h", "F", "G", r"\phi", r"\varphi", r"\sigma", r"\tau", r"\mu"))
_CLOSING = {"(": ")", "[": "]", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "|": "|"}
_TIMES = frozenset((r"\cdot", r"\times", "*"))
_STARTS = frozenset((r"\frac", r"\binom", r"\sqrt", r"\lfloor", r"\lceil", r"\pi"))


class TermReader:
    """One pass over tokens. `modes` are the unusual readings wanted; `met` is filled with those that would matter."""

    def __init__(self, tokens: Sequence[Token], modes: frozenset[str] = frozenset()) -> None:
        self.tokens = tokens
        self.modes = modes
        self.met: set[str] = set()
        self.place = 0
        self.depth = 0

    def read(self) -> Term:
        """The whole as one term. Raises `Unreadable`."""
        found = self._sum()
        if self.place < len(self.tokens):
            raise Unreadable(f"“{self.tokens[self.place].text}” is unexpected there")
        if depth_of(found) > MOST_DEEP:
            raise Unreadable(f"more than {MOST_DEEP} operations follow from each other")
        return found

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> str:
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    @property
    def _kind(self) -> str:
        return self.tokens[self.place].kind if self.place < len(self.tokens) else "end"

    def _take(self, *texts: str) -> str:
        found = self._next
        if self._kind == "word" or (texts and found not in texts) or not found:
            what = " or ".join(f"“{one}”" for one in texts) or "something"
            raise Unreadable(f"{what} is missing " + (f"before “{found}”" if found else "at the end"))
        self.place += 1
        return found

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise Unreadable(f"it is nested deeper than {MOST_NESTED}")

    # --- precedence --------------------------------------------------------------------------------------------------

    def _sum(self) -> Term:
        self._deeper()
        parts = [self._signed() if self._next in ("+", "-", r"\pm", r"\mp") else self._product()]
        while self._next in ("+", "-", r"\pm", r"\mp"):
            parts.append(self._signed())
        self.depth -= 1
        return add(*parts)

    def _signed(self) -> Term:
        sign = self._take("+", "-", r"\pm", r"\mp")
        if self._next in ("+", "-"):
            raise Unreadable("two signs follow each other")
        found = self._product()
        if sign in (r"\pm", r"\mp"):
            return Term("choose", (found,), sign)
        return minus(found) if sign == "-" else found

    def _product(self) -> Term:
        found = self._factors()
        while self._next in _TIMES or self._next in ("/", ":"):
            if self._take() in _TIMES:
                found = mul(found, self._factors(signed=True))
                continue
            first = self._power(signed=True)
            if self._starts_factor():
                self.met.add("slash")
                more = self._factors()
                found = (
                    Term("div", (found, mul(first, more))) if "slash" in self.modes else mul(Term("div", (found, first)), more)
                )
            else:
                found = Term("div", (found, first))
        return found

    def _factors(self, *, signed: bool = False) -> Term:
        """Factors side by side."""
        parts = [self._power(signed=signed)]
        while self._starts_factor():
            first, is_fraction = parts[-1], self._next == r"\frac"
            if self._kind == "number" and first.op == "number":
                raise Unreadable("two numbers follow each other")
            found = self._power()
            is_mixed = len(parts) == 1 and is_fraction and is_mixed_number(first, found)
            if is_mixed:
                self.met.add("mixed")
            parts[-1:] = [add(first, found)] if is_mixed and "mixed" not in self.modes else [first, found]
        return mul(*parts)

    def _starts_factor(self) -> bool:
        if self._kind in ("number", "name"):
            return True
        if self._kind == "command":
            return self._next in _GREEK or self._next in _CALLED or self._next in _STARTS
        return self._kind == "sign" and self._next in ("(", "{", "[")

    def _power(self, *, signed: bool = False) -> Term:
        if signed and self._next == "-":
            self._take()
            return minus(self._power())
        base = self._postfix()
        if self._next != "^":
            return base
        self._take("^")
        if self._next in (r"\circ", "°"):
            self._take()
            return Term("degrees", (base,))
        exponent = self._argument()
        if self._next == "^":
            raise Unreadable("two exponents follow each other")
        found = Term("pow", (base, exponent))
        return self._factorials(found)

    def _postfix(self) -> Term:
        found = self._factorials(self._atom())
        if self._next in ("°", r"\circ"):
            self._take()
            return Term("degrees", (found,))
        return found

    def _factorials(self, found: Term) -> Term:
        while self._next == "!":
            self._take()
            is_double = self._next == "!"
            if is_double:
                self._take()
            found = Term("double_factorial" if is_double else "factorial", (found,))
        return found

    # --- atoms -------------------------------------------------------------------------------------------------------

    def _atom(self) -> Term:
        text, kind = self._next, self._kind
        if kind == "number":
            self._take()
            return number(text)
        if kind == "name" or text in _GREEK or text in CONSTANTS:
            return self._name()
        if text == "{":
            return self._group()
        if text in _CLOSING:
            return self._bracket()
        if text in _CALLED:
            return self._called()
        if text in (r"\frac", r"\binom", r"\sqrt"):
            return self._built()
        what = f"“{text}”" if text else "the end"
        raise Unreadable(f"an expression is expected instead of {what}" if kind != "command" else f"{what} is not known here")

    def _name(self) -> Term:
        text = self._take()
        found = Term("constant", (), CONSTANTS[text]) if text in CONSTANTS else Term("name", (), text)
        if self._next == "_":
            self._take()
            found = Term("name", (), f"{text}_{self._subscript()}")
        if text in _UNKNOWN_FUNCTIONS and self._next == "(":
            self._take("(")
            return Term("unknown", self._listed(")"), str(found.value))
        return found

    def _subscript(self) -> str:
        if self._next != "{":
            return self._take()
        self._take("{")
        parts = []
        while self._next != "}":
            parts.append(self._take())
        self._take("}")
        return "".join(parts)

    def _group(self) -> Term:
        self._take("{")
        found = self._sum()
        self._take("}")
        return found

    def _bracket(self) -> Term:
        opened = self._take()
        found = self._sum()
        self._take(_CLOSING[opened])
        named = {r"\lfloor": "floor", r"\lceil": "ceil", "|": "abs"}
        if opened == "[":
            raise Unreadable("square brackets in an expression have several meanings")
        return Term(named[opened], (found,)) if opened in named else found

    def _argument(self) -> Term:
        """What a command or `^` governs: a group, or one token."""
        self._deeper()
        if self._next == "{":
            found = self._group()
        elif self._kind == "number" and "." not in self._next and len(self._next) > 1:
            found = self._one_digit()
        elif self._next == "-":
            self._take()
            found = minus(self._atom())
        else:
            found = self._atom()
        self.depth -= 1
        return found

    def _one_digit(self) -> Term:
        """TeX takes one digit: `\\frac12` is one half; `2^10` would be two to the one and a zero, which is never meant."""
        text = self._next
        before = self.tokens[self.place - 1].text if self.place else ""
        if before == "^":
            self._take()
            return number(text)
        digits = [Token("number", text[0]), Token("number", text[1:])]
        self.tokens = [*self.tokens[: self.place], *digits, *self.tokens[self.place + 1 :]]
        self._take()
        return number(text[0])

    def _built(self) -> Term:
        text = self._take()
        if text == r"\sqrt":
            degree: Term = number(2)
            if self._next == "[":
                self._take("[")
                degree = self._sum()
                self._take("]")
            return Term("root", (self._argument(), degree))
        first = self._argument()
        return Term("div" if text == r"\frac" else "binom", (first, self._argument()))

    def _listed(self, closing: str) -> tuple[Term, ...]:
        found = [self._sum()]
        while self._next == ",":
            self._take()
            found.append(self._sum())
        self._take(closing)
        return tuple(found)

    def _called(self) -> Term:
        name, base, power = _CALLED[self._take()], None, None
        while self._next in ("_", "^"):
            if self._take() == "_":
                base = self._argument()
            else:
                power = self._argument()
        if power == MINUS_ONE:
            raise Unreadable(f"{name} to the −1 is an inverse or a quotient")
        if self._next in ("(", r"\{") or (self._next == "{" and name in ("gcd", "lcm", "max", "min")):
            args = self._listed({"(": ")", r"\{": r"\}", "{": "}"}[self._take()])
        else:
            args = (self._bare_argument(),)
        if name == "log" and base is None:
            self.met.add("log")
            base = number(10) if "log" in self.modes else Term("constant", (), "e")
        found = Term("log", (*args, base)) if base is not None else Term(name, args)
        return found if power is None else Term("pow", (found, power))

    def _bare_argument(self) -> Term:
        """The argument of a function without brackets: factors side by side up to the next function."""
        self._deeper()
        parts = [self._power()]
        while self._starts_factor() and self._next not in _CALLED and self._next != "(":
            parts.append(self._power())
        if self._next == "/":
            raise Unreadable("where the argument of a function ends is not clear")
        self.depth -= 1
        return mul(*parts)
