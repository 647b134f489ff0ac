"""Texts for the tests of formulas and blocks: written ones with every construct, and seeded random mixtures of them."""

import random

WRITTEN = [
    "Let $f: \\mathbb{Z}\\to\\mathbb{Z}$ be *any* map.\n\nThen **for all** $x$ we have \\(f(x)=x\\).\n\nDone.",
    "We have \\[ a\n+ b\n= c \\] and so on.\n\n$$\nx^2\n- y^2\n$$\n\nIt costs $5 and $6, or \\$7.",
    "Text $ f(x)=1$, setting $b \\to 0$ gives $c$.\n\n1. one $x$\n2. two\n   more\n\n- a\n  - b $y$\n- c\n",
    "# Title with $x$\nparagraph under it\n## Second\n> a quote with $z$\n> \\[ a\n> + b \\]\n\nend",
    "Look:\n```python\nprint('$x$')\n\n# no heading\n```\nafter `code $y$` and ``a`b`` here.\n\n~~~\ntilde\n~~~\n",
    "\\begin{align}\na&=b\\\\\n\nc&=d\n\\end{align}\n\nafter \\begin{cases}1&x\\\\2&y\\end{cases} text.",
    "An open $x + y that never closes.\n\nNext paragraph with \\( open too.\n\nAnd `open code.\n\nLast.",
    "Nested $\\text{if $n$ is odd}$ and $\\{a_n\\}$ and \\\\( not a formula \\\\) and 3$x$ or $x$3.",
    "Open display:\n\n$$ a = b\n\nand a blank line, then it closes $$ and continues.\n\nEnd.",
    "\\[ never closed\n\nsecond paragraph\n\nthird with $x$.",
    "***both*** _em_ __strong__ snake_case_word a*b*c ** loose ** \\*escaped\\* *open",
    "Emoji 😀 and 𝔽 in $𝔽_p$ with é.\r\n\r\nNext line\r\nof text.\n",
    "A line\nthat breaks  \nhard\\\nand soft.\n***\nrule above\n\n```\nfence never closed $x$\n\nstill code",
    "$a\n# not a heading\nb$ then\n```\ncode\n```\n$c$",
    "Text with $ a $ spaced and $\n\\frac12\n$ broken.\n+ item after\n2. not an item\n1. an item",
    "`` ` `` and ``` ``` ``` and `$`$x$`$`\n\n\\",
    "$$x$$ $$ $ $$ \\( \\) \\[ \\] $ $$ $$$ $x$$y$",
]
_PIECES = [
    *("word ", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\n", "\n\n", "x", "^2", " ", "{", "}", "\\", "`", "```\n", "*", "**"),
    *(
        "_",
        "- ",
        "1. ",
        "# ",
        "> ",
        "$x$",
        "\\begin{align}",
        "\\end{align}",
        "5",
        ".",
        "\\text{a $n$ b}",
        "~~~\n",
        "+ b",
        "😀",
        "\\$",
    ),
]


def random_texts(count: int, seed: int = 7) -> list[str]:
    """Mixtures of the pieces, 5 to 60 of them each; the same for the same seed."""
    source = random.Random(seed)
    return ["".join(source.choices(_PIECES, k=source.randint(5, 60))) for _ in range(count)]


def long_texts() -> list[str]:
    """Texts without blank lines that must be cut for the tail to stay short."""
    return [
        "A sentence with $x_1$ and more words. " * 400,
        "A line with \\(y^2\\) in it and some words\n" * 300,
        "x" * 20_000,
        "$" + "a+b " * 3_000 + "$ end\n\nnext",
    ]
