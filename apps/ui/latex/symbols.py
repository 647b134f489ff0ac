"""Characters as LaTeX, and the commands that a formula may use with `prose.PREAMBLE`."""

import unicodedata
from functools import cache
from importlib.resources import files

_PACKAGES = {"amssymb", "amsfonts", "amsmath"}
_OTHER_PACKAGES = {"wrisym", "fourier", "-fourier", "-literal", "-oz", "-wrisym", "-mathabx"}
"""Entries that name these packages next to one of ours are in ours, too."""

_STRUCTURE = """
    frac dfrac tfrac cfrac binom dbinom tbinom choose sqrt text textbf textit textrm textsf texttt textnormal mbox
    mathrm mathbf mathit mathsf mathtt mathbb mathcal mathfrak mathscr mathop mathbin mathrel mathord mathopen mathclose
    boldsymbol bm pmb rm bf cal operatorname overline underline overbrace underbrace overset underset stackrel
    xrightarrow xleftarrow left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm biggm
    substack limits nolimits displaystyle textstyle scriptstyle scriptscriptstyle quad qquad enspace thinspace negthinspace
    phantom hphantom vphantom smash hat widehat tilde widetilde bar vec dot ddot check breve acute grave mathring
    overrightarrow overleftarrow overleftrightarrow not pmod bmod mod pod boxed tag notag nonumber begin end hline
    dots ldots cdots vdots ddots dotsb dotsc dotsi dotsm dotso prime colon
    arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min Pr sec
    sin sinh sup tan tanh projlim injlim varlimsup varliminf
    le ge ne neq leq geq to gets land lor lnot iff implies impliedby owns lt gt degree wideparen overarc
    lvert rvert lVert rVert vert Vert lbrace rbrace lbrack rbrack langle rangle lfloor rfloor lceil rceil
    blacksquare square Box Diamond R N Z Q C triangle Rightarrow Leftarrow Leftrightarrow Longrightarrow Longleftarrow
    Longleftrightarrow longrightarrow longleftarrow longleftrightarrow longmapsto mapsto setminus emptyset surd angle
    star ast circ bullet cdot mid nmid parallel perp cong sim simeq approx propto subset supset subseteq supseteq sqcup sqcap
    diamond bigcup bigcap bigsqcup bigvee bigwedge bigoplus bigotimes biguplus oint epsilon phi varnothing hbar ell Re Im
    nabla partial infty forall exists nexists in ni notin cup cap vee wedge oplus otimes dagger ddagger aleph top bot vdash
    models therefore because checkmark bigcirc bigtriangleup lceil amalg wr asymp doteq smile frown bowtie
"""
_ROOTS = {"√": r"\surd", "∛": r"\sqrt[3]{}", "∜": r"\sqrt[4]{}"}
#: Categories of the table whose commands need an argument.
_WITH_ARGUMENT = {"mathover", "mathunder", "mathaccent", "mathradical"}
#: Commands that KaTeX has and LaTeX with amsmath has not.
PROVIDED = (
    r"\providecommand{\degree}{^\circ}",
    r"\providecommand{\wideparen}[1]{\overset{\frown}{#1}}",
    r"\providecommand{\overarc}[1]{\overset{\frown}{#1}}",
    r"\providecommand{\lt}{<}",
    r"\providecommand{\gt}{>}",
    r"\providecommand{\bm}[1]{\boldsymbol{#1}}",
    r"\providecommand{\mathscr}[1]{\mathcal{#1}}",
    *(rf"\providecommand{{\{letter}}}{{\mathbb{{{letter}}}}}" for letter in "RNZQC"),
)
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "-": "-{}", "\u00a0": "~", "\u00ad": r"\-",
    "–": "--", "—": "---", "‘": "`", "’": "'", "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}",
    "„": r"\quotedblbase{}", "…": r"\ldots{}", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "€": r"\texteuro{}", "□": r"\ensuremath{\square}",
    "′": r"\ensuremath{'}", "″": r"\ensuremath{''}", "•": r"\textbullet{}", "·": r"\textperiodcentered{}",
    "°": r"\ensuremath{^\circ}",
    "²": r"\ensuremath{^2}", "³": r"\ensuremath{^3}", "¹": r"\ensuremath{^1}", "−": r"\ensuremath{-}",
    "■": r"\ensuremath{\blacksquare}",
    "\u2009": r"\,", "\u202f": r"\,", "\u2003": r"\quad{}", "\u2011": "-{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".", "\u0308": '"',
    "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0328": "k", "\u0331": "b",
}  # fmt: skip


@cache
def _table() -> dict[str, str]:
    """Command by character, for the symbols of LaTeX, amsmath and amssymb."""
    found = dict(_ROOTS)
    lines = files("latex2mathml").joinpath("unimathsymbols.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        cells = line.split("^")
        if line.startswith("#") or len(cells) < 7 or cells[5] in _WITH_ARGUMENT:
            continue
        if not cells[2].startswith("\\") or len(cells[1]) != 1:
            continue
        needed = set(cells[6].split())
        if needed <= {"-literal"} or (needed & _PACKAGES and needed <= _PACKAGES | _OTHER_PACKAGES) or needed == {"mathbb"}:
            found.setdefault(cells[1], cells[2])
    return found


@cache
def commands() -> frozenset[str]:
    """Names of the commands that a formula may use."""
    symbols = {command[1:] for command in _table().values() if command[1:].isalpha()}
    return frozenset(symbols | set(_STRUCTURE.split()))


def character(char: str) -> str:
    """LaTeX of one character, for text and formulas. A character that LaTeX cannot print becomes its code point."""
    if char in _SPECIAL:
        return _SPECIAL[char]
    if " " <= char <= "~" or char in "\n\t":
        return char
    if command := _table().get(char):
        return rf"\ensuremath{{{command}}}"
    return _composed(char)


def character_in_formula(char: str) -> str:
    """LaTeX of one character inside a formula, without `\\ensuremath`, which MathJax does not have."""
    written = character(char)
    if written.startswith(r"\ensuremath{"):
        return written.removeprefix(r"\ensuremath{")[:-1] + " "
    return written if char.isascii() or not written else rf"\text{{{written}}}"


def _composed(char: str) -> str:
    base, accent = unicodedata.normalize("NFD", char)[:1], unicodedata.normalize("NFD", char)[1:]
    if base.isascii() and base.isalpha() and accent in _ACCENTS:
        return rf"\{_ACCENTS[accent]}{{{base}}}"
    plain = unicodedata.normalize("NFKC", char)
    if plain != char and plain.isascii():
        return "".join(map(character, plain))
    return "" if unicodedata.category(char) in ("Cc", "Cf", "Mn") else rf"\codepoint{{{ord(char):04X}}}"
