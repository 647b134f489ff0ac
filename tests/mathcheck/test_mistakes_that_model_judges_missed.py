"""Examples of QED-Nano's human graders: a wrong sum, a first derivative used as the second, a function that is not convex."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, REFUTED, SURVIVED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"Its three largest divisors give $\frac{1}{2}m+\frac14m+\frac15m=\frac{26}{20}m$, hence $f(m)>m$.", "identity"),
        (r"We have $\frac{1}{2}+\frac{1}{4}+\frac{1}{5}=\frac{26}{20}$.", "arithmetic"),
        (r"Let $f(x)=\operatorname{arctanh}(x)$. Its second derivative is $f''(x)=\frac{1}{1-x^2}$.", "derivative"),
        (r"The function $\operatorname{arctanh}$ is convex on $(-1,1)$, so Jensen's inequality applies.", "convexity"),
    ],
)
def test_a_mistake_is_refuted(text: str, kind: str) -> None:
    assert [finding.kind for finding in check_text(text) if finding.outcome == REFUTED] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        r"Its three largest divisors give $\frac{1}{2}m+\frac14m+\frac15m=\frac{19}{20}m$, hence $f(m)<m$.",
        r"We have $\frac{1}{2}+\frac{1}{4}+\frac{1}{5}=\frac{19}{20}$.",
        r"Let $f(x)=\operatorname{arctanh}(x)$. Its first derivative is $f'(x)=\frac{1}{1-x^2}$.",
        r"The function $\operatorname{arctanh}$ is convex on $[0,1)$, so Jensen's inequality applies.",
    ],
)
def test_the_corrected_statement_holds(text: str) -> None:
    outcomes = {finding.outcome for finding in check_text(text)}
    assert outcomes & {PROVED, SURVIVED}
    assert REFUTED not in outcomes
