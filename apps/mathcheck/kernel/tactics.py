"""Proofs to try for a theorem in Coq, cheapest first. Nothing here is trusted: Coq's kernel checks what they find."""

from fractions import Fraction

from apps.mathcheck.kernel.coq import relation_text, term_text
from apps.mathcheck.kernel.terms import Relation, Term, Theorem, parts, replaced

#: Most residue classes in one proof.
MOST_CASES = 1_300
Z_PRELUDE = """repeat match goal with H : prime ?p |- _ =>
    pose proof (prime_ge_2 p H); try pose proof (prime_mod p 2 H ltac:(lia));
    try pose proof (prime_mod p 3 H ltac:(lia)); clear H end;"""
R_PRELUDE = """repeat match goal with
    | H : prime ?p |- _ => pose proof (prime_ge_2 p H); clear H
    end;
  repeat match goal with
    | H : (?a < ?b)%Z |- _ => apply IZR_lt in H
    | H : (?a <= ?b)%Z |- _ => apply IZR_le in H
    | H : (?a <> ?b)%Z |- _ => apply IZR_neq in H
    | H : (?a = ?b :> Z) |- _ => apply (f_equal IZR) in H
    end;
  rewrite ?plus_IZR, ?mult_IZR, ?minus_IZR, ?opp_IZR in *;"""
_NONZERO = "repeat split; try assumption; try lra; try nra"
_POSITIVE = """repeat first [assumption | lra | apply Rmult_lt_0_compat | apply Rplus_lt_0_compat | apply pow_lt
    | apply Rplus_lt_le_0_compat | apply Rplus_le_le_0_compat | apply Rmult_le_pos | apply pow_le | apply Rle_0_sqr
    | apply pow2_ge_0 | apply sqrt_pos | apply Rabs_pos | apply Rlt_le]"""


#: For what gives a claim a value.
VALUE = f"first [discriminate | lia | lra | nra | nia | {R_PRELUDE} first [lra | nra | {_POSITIVE}; fail]]"


def proofs(theorem: Theorem, quotient: tuple[str, str] | None = None, multiple: str = "") -> list[tuple[str, str]]:
    """Names and tactics, cheapest first.

    `quotient`: the difference of the sides as numerator and denominator, if our algebra has one. `multiple`: the quotient of a
    divisibility.
    """
    if theorem.sort == "Z":
        return _of_whole(theorem, multiple)
    return _of_reals(theorem, quotient)


def _of_whole(theorem: Theorem, multiple: str) -> list[tuple[str, str]]:
    sign, found = theorem.conclusion.sign, list[tuple[str, str]]()
    if not theorem.names:
        found += _computed(sign)
    start = f"{Z_PRELUDE} " if any(one.sign == "prime" for one in theorem.hypotheses) else ""
    if sign == "divides":
        if multiple:
            found.append(("ring", f"exists ({multiple})%Z; ring"))
        found.append(("lia", start + "apply Z.mod_divide; [lia | lia]"))
        found += [("residues, lia", start + f"apply Z.mod_divide; [lia |]; {cases}") for cases in _residues(theorem)]
    elif sign == "not divides":
        found.append(("lia", start + "rewrite <- Z.mod_divide by lia; lia"))
        found += [("residues, lia", start + f"rewrite <- Z.mod_divide by lia; {cases}") for cases in _residues(theorem)]
    else:
        found += [("ring", "ring")] if sign == "=" else []
        found += [("lia", start + "lia"), ("nia", start + "nia")]
        found += [("nsatz", "nsatz")] if sign == "=" and theorem.hypotheses else []
        if sign in ("<", "<="):
            found += [("psatz", start + f"psatz Z {degree}") for degree in (2, 3)]
    return [*found[:4], *_inductions(theorem), *found[4:]]


def _computed(sign: str) -> list[tuple[str, str]]:
    ends = {
        "divides": "apply Z.mod_divide; [discriminate | vm_compute; reflexivity]",
        "not divides": "rewrite <- Z.mod_divide by discriminate; vm_compute; discriminate",
    }
    return [("vm_compute", ends.get(sign, "vm_compute; first [reflexivity | discriminate]"))]


def _residues(theorem: Theorem) -> list[str]:
    """Every residue of the names modulo a number."""
    modulus, names = theorem.conclusion.left, [key for key, sort in theorem.names if sort == "Z"]
    if modulus.op != "num" or not names or not 2 <= Fraction(modulus.value) ** len(names) <= MOST_CASES:
        return []
    size, lines = int(Fraction(modulus.value)), ""
    for key in names:
        values = " \\/ ".join(f"({key} mod {size} = {value})%Z" for value in range(size))
        lines += (
            f"assert ({values}) as cases_of_{key} by (pose proof (Z.mod_pos_bound {key} {size} ltac:(lia)); lia); "
            f"pose proof (Z_div_mod_eq_full {key} {size}) as whole_{key}; "
        )
    lines += "repeat match goal with H : _ \\/ _ |- _ => destruct H as [H | H] end; "
    for key in names:
        lines += (
            f"match goal with H : ({key} mod {size} = _)%Z |- _ => rewrite H in whole_{key}; clear H end; "
            f"generalize dependent ({key} / {size})%Z; intros quotient_{key} whole_{key}; subst {key}; "
        )
    return [lines + "lia"]


def _inductions(theorem: Theorem) -> list[tuple[str, str]]:
    """Induction on a name in an exponent, from its lower bound in the hypotheses."""
    relations = (theorem.conclusion.left, theorem.conclusion.right)
    powers = [part for side in relations for part in parts(side) if part.op == "pow" and part.sort == "Z"]
    names = dict.fromkeys(str(one.value) for power in powers for one in parts(power.args[1]) if one.op == "name")
    return [("induction, lia", text) for key in names if (text := _induction(theorem, key)) is not None]


def _induction(theorem: Theorem, key: str) -> str | None:
    low = _lower_bound(theorem, key)
    if low is None or any(sort == "Z" and other != key for other, sort in theorem.names):
        return None
    start = Term("num", "Z", value=low)
    by = Term("add", "Z", (start, Term("name", "Z", value="(Z.of_nat k)")))
    end = theorem.conclusion
    moved = Relation(end.sign, replaced(end.left, key, by), replaced(end.right, key, by))
    is_divided = end.sign == "divides"
    goal = relation_text(moved)
    if is_divided:
        goal = f"(({term_text(moved.right)}) mod {term_text(moved.left)} = 0)%Z"
    again = f"replace {key} with ({low} + Z.of_nat (Z.to_nat ({key} - {low})))%Z by lia"
    finish = f"{'apply Z.mod_divide; [lia |]; ' if is_divided else ''}{again}; apply always"
    step = (
        "replace (Z.of_nat (S k)) with (Z.of_nat k + 1)%Z by lia; "
        "rewrite ?Z.mul_add_distr_l, ?Z.add_assoc, ?Z.pow_add_r, ?Z.pow_mul_r in * by lia"
    )
    return (
        f"assert (forall k : nat, {goal}) as always; [clear; induction k as [| k IH]; "
        f"[vm_compute; first [reflexivity | discriminate] | {step}; first [lia | nia]] | {finish}]"
    )


def _lower_bound(theorem: Theorem, key: str) -> int | None:
    lows = [
        int(Fraction(one.left.value)) + (one.sign == "<")
        for one in theorem.hypotheses
        if one.sign in ("<", "<=") and one.left.op == "num" and one.left.sort == "Z" and one.right.value == key
    ]
    return max(lows, default=None)


def _of_reals(theorem: Theorem, quotient: tuple[str, str] | None) -> list[tuple[str, str]]:
    sign = theorem.conclusion.sign
    start = f"{R_PRELUDE} "
    roots = _roots(theorem)
    hints = _hints(theorem)
    found = [("field", f"{R_PRELUDE} field; {_NONZERO}"), ("ring", "ring")] if sign == "=" else []
    found += [("lra", start + "lra")]
    if sign in ("<", "<="):
        found.append(("signs of parts", start + _POSITIVE))
    found += [("nra", start + roots + "nra"), ("nra with squares", start + roots + hints + "nra")]
    if quotient is not None and sign in ("<", "<="):
        found += _cleared(theorem, quotient, start, hints)
    if sign == "=":
        found += [("nsatz", "nsatz")] if theorem.hypotheses else []
    if sign in ("<", "<="):
        found += [("psatz", start + f"psatz R {degree}") for degree in (2, 3, 4)]
    return found


def _hints(theorem: Theorem) -> str:
    names = [key if sort == "R" else f"IZR {key}" for key, sort in theorem.names][:4]
    pairs = [f"({a} {sign} {b})" for at, a in enumerate(names) for b in names[at + 1 :] for sign in "-+"]
    if len(names) == 2:
        pairs += [f"({a} {sign} {b} / 2)" for a, b in (names, names[::-1]) for sign in "-+"]
    single = [f"({key} {shift})" for key in names for shift in ("- 1", "+ 1", "- 2")] if len(names) < 3 else []
    return " ".join(f"pose proof (pow2_ge_0 {one})%R;" for one in [*pairs, *single]) + (" " if pairs or single else "")


def _roots(theorem: Theorem) -> str:
    """Facts about the square roots and absolute values that occur."""
    sides = [side for one in (*theorem.hypotheses, theorem.conclusion) for side in (one.left, one.right)]
    found = dict.fromkeys(part for side in sides for part in parts(side) if part.op == "sqrt")
    text = ""
    for root in found:
        inner = f"({term_text(root.args[0])})"
        text += f"pose proof (sqrt_pos {inner})%R; pose proof (sqrt_sqrt {inner} ltac:(first [assumption | lra | nra]))%R; "
    if any(part.op in ("abs", "min", "max") and part.sort == "R" for side in sides for part in parts(side)):
        text += "unfold Rabs, Rmin, Rmax in *; repeat match goal with |- context [if ?c then _ else _] => destruct c end; "
        text += "repeat match goal with |- context [match ?c with left _ => _ | right _ => _ end] => destruct c end; "
    return text


def _cleared(theorem: Theorem, quotient: tuple[str, str], start: str, hints: str) -> list[tuple[str, str]]:
    """An inequality of quotients: the difference has a positive denominator and a numerator that is not positive."""
    top, bottom = quotient
    end = theorem.conclusion
    difference = f"({term_text(end.left)} - ({term_text(end.right)}))%R"
    close = "Rminus_lt" if end.sign == "<" else "Rminus_le"
    ways = [("nra", f"{hints}nra"), *(("psatz", f"psatz R {degree}") for degree in (2, 3, 4))]
    return [
        (
            f"field, {name}",
            f"{start}assert ({difference} = ({top}) / ({bottom}))%R as same by (field; {_NONZERO}); "
            f"assert (0 < {bottom})%R as below by (first [{_POSITIVE}; fail | nra | {hints}nra]); "
            f"assert ({top} {end.sign} 0)%R as above by ({way}); apply {close}; rewrite same; "
            "apply Rinv_0_lt_compat in below; unfold Rdiv; nra",
        )
        for name, way in ways
    ]
