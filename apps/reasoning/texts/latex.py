"""A text written in LaTeX as it is shown: the everyday commands as Markdown, formulas untouched. Pure.

What students write around their formulas: sections, emphasis, theorems and proofs, lists, references, quotation marks. Macros
of their own, tables, pictures and packages are not read; what is not known stays as it was typed. The text itself never
changes: steps and places count in the source.
"""

import re
from collections.abc import Callable

from apps.reasoning.texts.formulas import formulas as formulas_in

_STATEMENTS = {
    name.lower(): name
    for name in (
        "Theorem", "Lemma", "Claim", "Proposition", "Corollary", "Definition", "Remark", "Example", "Case", "Observation",
        "Fact", "Solution", "Problem", "Conjecture", "Notation",
    )
}  # fmt: skip
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_PREAMBLE = re.compile(r"\A.*?\\begin\{document\}|\\end\{document\}.*\Z", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_SILENT = re.compile(
    r"\\(?:documentclass|usepackage|title|author|date|label|vspace|hspace|setlength|pagestyle|thispagestyle|input)\*?(?:\[[^\]]{0,200}\])?"
    rf"(?:{_ARGUMENT})+"
    r"|\\(?:maketitle|noindent|indent|bigskip|medskip|smallskip|newpage|clearpage|pagebreak|centering|qedhere|par|hfill|newline"
    r"|linebreak)(?![A-Za-z])"
)
_HEADS = (
    (re.compile(rf"\\(?:part|chapter|section)\*?{_ARGUMENT}"), r"\n\n### \1\n\n"),
    (re.compile(rf"\\(?:sub)+section\*?{_ARGUMENT}"), r"\n\n#### \1\n\n"),
    (re.compile(rf"\\(?:sub)?paragraph\*?{_ARGUMENT}"), r"\n\n**\1** "),
)
_BEGIN_STATEMENT = re.compile(rf"\\begin\{{({'|'.join(_STATEMENTS)})\*?\}}(?:\[([^\]\n]{{0,200}})\])?\s*", re.IGNORECASE)
_BEGIN_PROOF = re.compile(r"\\begin\{proof\}(?:\[([^\]\n]{0,200})\])?\s*")
_ITEM = re.compile(r"[ \t]*\\item(?![A-Za-z])[ \t]*(?:\[([^\]\n]{0,200})\])?[ \t]*")
_OTHER_ENVIRONMENTS = re.compile(
    r"\\(?:begin|end)\{(?:enumerate|itemize|description|center|quote|quotation|flushleft|flushright|abstract|"
    rf"{'|'.join(_STATEMENTS)})\*?\}}(?:\[[^\]\n]{{0,200}}\])?",
    re.IGNORECASE,
)
_WORDS = (
    (re.compile(rf"\\textbf{_ARGUMENT}|\{{\\bf(?:series)? ([^{{}}]*)\}}"), "**"),
    (re.compile(rf"\\(?:emph|textit|textsl){_ARGUMENT}|\{{\\(?:it|em)(?:shape)? ([^{{}}]*)\}}"), "*"),
    (re.compile(rf"\\texttt{_ARGUMENT}"), "`"),
    (re.compile(rf"\\(?:underline|textrm|textsc|textsf|textup|mbox){_ARGUMENT}"), ""),
)
_REFERENCE = re.compile(rf"\\(?:eqref|ref|autoref|cref|Cref|cite){_ARGUMENT}")
_SIGNS = (
    (re.compile(r"\\qed(?![A-Za-z])|\\end\{proof\}"), " □"),
    (re.compile(r"\\\\(?:\[[^\]\n]{0,200}\])?"), "\n\n"),
    (re.compile(r"``|''"), '"'),
    (re.compile(r"(?<!\\)~"), "\u00a0"),
    (re.compile(r"\\([%&#_])"), r"\1"),
    (re.compile(r"\\(?:ldots|dots)(?![A-Za-z])(?:\{\})?"), "…"),
)
_AUTHOR = re.compile(r"(\\(?:author|thanks)\s*(?:\[[^\]]{0,200}\])?\{)((?:[^{}]|\{[^{}]*\})*)\}")
#: Replaces formulas while the words around them are read; no text contains it.
_FORMULA = "\ue0f0{}\ue0f1"
_BACK = re.compile("\ue0f0(\\d+)\ue0f1")


def latex_shown(text: str) -> str:
    """Markdown of a text, or of one step of it, that was written in LaTeX."""
    return outside_formulas(text, _words_shown).strip()


def macros_shown(text: str) -> str:
    """Markdown of a text that has only macros for words (`\\emph`, `\\textbf`) around its formulas."""
    return outside_formulas(text, _macros_shown)


def outside_formulas(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to the words around its formulas, as one text in which formulas are placeholders."""
    formulas: list[str] = []
    pieces, place = [], 0
    for formula in formulas_in(text):
        pieces += [text[place : formula.start], _FORMULA.format(len(formulas))]
        formulas.append(text[formula.start : formula.end])
        place = formula.end
    words = change("".join([*pieces, text[place:]]))
    return _BACK.sub(lambda found: formulas[int(found[1])] if int(found[1]) < len(formulas) else "", words)


def shown_of(text: str, text_format: str) -> str:
    """A text in the format that its author chose, as Markdown; who wrote it is left out."""
    return latex_shown(text) if text_format == "latex" else without_author(text)


def names_an_author(text: str) -> bool:
    """Whether a text says who wrote it, in the way of LaTeX."""
    return _AUTHOR.search(text) is not None


def without_author(text: str) -> str:
    """The source with dots for names in `\\author` or `\\thanks`; the length is unchanged, so that places remain valid."""
    return _AUTHOR.sub(lambda found: found[1] + re.sub(r"[^\n]", "·", found[2]) + "}", text)


def _words_shown(words: str) -> str:
    words = _COMMENT.sub("", _PREAMBLE.sub("", words))
    words = _SILENT.sub("", words)
    for pattern, shown in _HEADS:
        words = pattern.sub(shown, words)
    words = _BEGIN_STATEMENT.sub(lambda found: f"\n\n**{_STATEMENTS[found[1].lower()]}{_named(found[2])}.** ", words)
    words = _BEGIN_PROOF.sub(lambda found: f"\n\n*{found[1] or 'Proof'}.* ", words)
    words = _ITEM.sub(lambda found: f"\n- {found[1]} " if found[1] else "\n- ", words)
    words = _OTHER_ENVIRONMENTS.sub("\n", words)
    words = _macros_shown(words)
    words = _REFERENCE.sub(r"(\1)", words)
    for pattern, shown in _SIGNS:
        words = pattern.sub(shown, words)
    return words


def _macros_shown(words: str) -> str:
    for pattern, sign in _WORDS:
        words = pattern.sub(lambda found, sign=sign: _marked(found, sign), words)  # type: ignore[misc]
    return words


def _named(name: str | None) -> str:
    return f" ({name})" if name else ""


def _marked(found: re.Match[str], sign: str) -> str:
    inner = next((group for group in found.groups() if group is not None), "").strip()
    return f"{sign}{inner}{sign}" if inner else ""
