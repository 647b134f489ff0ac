"""True statements, and for each a slightly wrong one. Written for these tests; all are classical or simple variations."""

T = "a b c = triangle a b c"
FEET = "d = foot d a b c; e = foot e b a c; f = foot f c a b"
MIDDLES = "a b c d = quadrangle a b c d; m = midpoint m a b; n = midpoint n b c; p = midpoint p c d; q = midpoint q d a"
CENTRES = "o = circumcenter o a b c; h = orthocenter h a b c"

#: True statement, then false goals or a false statement (with "?") in its place.
PAIRS: list[tuple[str, str]] = [
    (f"{T}; h = orthocenter h a b c ? perp a h b c", "perp a h a c"),
    (f"{T}; h = on_tline h b a c, on_tline h c a b ? perp a h b c", f"{T}; h = on_tline h b a c, on_line h c a ? perp a h b c"),
    (f"{T}; x y z g = centroid x y z g a b c; {CENTRES} ? coll o g h", "cong o g g h"),
    (f"{T}; x y z g = centroid x y z g a b c ? coll c z g", "coll a z g"),
    (f"{T}; x y z g = centroid x y z g a b c ? rconst a g g x 2/1", "rconst a g g x 3/2"),
    (f"{T}; m = midpoint m a b; n = midpoint n a c ? para m n b c", "para m n b a"),
    (f"{T}; m = midpoint m a b; n = midpoint n a c ? rconst b c m n 2/1", "cong b c m n"),
    ("a b = segment a b; o = midpoint o a b; c = on_circle c o a ? perp a c b c", "cong a c b c"),
    ("a b = segment a b; c = on_dia c a b; o = midpoint o a b ? cong o c o a", "cong o c c a"),
    (f"{T}; o = circumcenter o a b c; d = on_circle d o a ? eqangle a c a d b c b d", "eqangle a c a d b d b c"),
    (f"{T}; d = on_circum d a b c ? cyclic a b c d", f"{T}; d = on_circle d a b ? cyclic a b c d"),
    (f"{T}; i = incenter i a b c; d = foot d i b c; e = foot e i a c ? cong i d i e", "cong i d d e"),
    (f"{T}; d e f i = incenter2 d e f i a b c ? circle i d e f", "circle i d e a"),
    (f"{T}; d e f i = incenter2 d e f i a b c ? cong a e a f", "cong a e b f"),
    (f"{T}; i = incenter i a b c; j = excenter j a b c ? coll a i j", "coll b i j"),
    (f"{T}; i = incenter i a b c; j = excenter j a b c ? cyclic i j b c", "cyclic i j a b"),
    (f"{T}; i = incenter i a b c; j = excenter j a b c ? perp b i b j", "perp a i a c"),
    (
        f"{T}; o = circumcenter o a b c; i = incenter i a b c; m = on_line m a i, on_circle m o a ? cong m b m c",
        "cong m b m a",
    ),
    (
        f"{T}; o = circumcenter o a b c; i = incenter i a b c; m = intersection_lc m i o a ? circle m b i c",
        f"{T}; o = circumcenter o a b c; g = orthocenter g a b c; m = intersection_lc m g o a ? circle m b g c",
    ),
    (f"{T}; {CENTRES}; d = reflect d h b c ? cong o d o a", "cong h d h a"),
    (f"{T}; h = orthocenter h a b c; m = midpoint m b c; d = mirror d h m ? cyclic a b c d", "cyclic a b h d"),
    (f"{T}; d = foot d a b c; e = foot e b a c ? cyclic a b d e", "cyclic a c d e"),
    (f"{T}; d = foot d a b c; e = foot e b a c ? simtrir c d e c a b", "simtri c d e c a b"),
    (
        f"{T}; {FEET}; h = orthocenter h a b c ? eqangle d f d h d h d e",
        "para d f d e",
    ),
    (
        f"{T}; {FEET}; m = midpoint m b c ? cyclic d e f m",
        f"{T}; {FEET}; m = midpoint m b d ? cyclic d e f m",
    ),
    (
        f"{T}; p = on_circum p a b c; d = foot d p b c; e = foot e p a c; f = foot f p a b ? coll d e f",
        f"{T}; p = on_circle p a b; d = foot d p b c; e = foot e p a c; f = foot f p a b ? coll d e f",
    ),
    (
        f"{T}; d = on_line d b c; e = on_line e a c; f = intersection_ll f d e a b; m = on_circum m b d f ? cyclic b d f m",
        "cyclic c d e m",
    ),
    (
        f"{T}; d = on_line d b c; e = on_line e a c; f = on_line f a b; p = circumcenter p a e f; q = circumcenter q b d f; "
        "m = intersection_cc m p q f ? cyclic c d e m",
        "cyclic a b c m",
    ),
    (
        f"{MIDDLES} ? para m n p q",
        "perp m n n p",
    ),
    (
        f"{MIDDLES} ? cong m n p q",
        "cong m n n p",
    ),
    ("a b c d = rectangle a b c d; o = intersection_ll o a c b d ? cong o a o b", "perp a c b d"),
    ("a b c d = isquare a b c d ? perp a c b d", "para a c b d"),
    ("a b c d = iso_trapezoid a b c d ? cyclic a b c d", "a b c d = trapezoid a b c d ? cyclic a b c d"),
    (f"{T}; d = parallelogram d a b c; o = intersection_ll o a c b d ? midp o b d", "cong o b o a"),
    ("a b c = iso_triangle a b c; m = midpoint m b c ? perp a m b c", f"{T}; m = midpoint m b c ? perp a m b c"),
    ("a b c = iso_triangle a b c ? eqangle b a b c c b c a", "eqangle a b a c b c b a"),
    ("a b = segment a b; c = s_angle b a c 60o ? aconst b a a c 60o", "aconst b a a c 30o"),
    ("a b c = ieq_triangle a b c ? cong a b b c; cong b c c a", f"{T} ? cong a b b c"),
    ("a b c = r_triangle a b c; h = foot h a b c ? simtrir h b a a b c", "simtri h b a a b c"),
    ("a b c = r_triangle a b c; h = foot h a b c ? eqratio b h h a h a h c", "eqratio b h h a h c h a"),
    (
        f"{T}; d = angle_bisector d b a c, on_line d b c ? eqratio d b d c a b a c",
        f"{T}; d = midpoint d b c ? eqratio d b d c a b a c",
    ),
    ("a o b = triangle a o b; x y = tangent x y a o b ? cong a x a y", "cong a x x y"),
    ("a o b = triangle a o b; x y = tangent x y a o b ? cyclic a x o y", "cyclic a x y b"),
    (
        "a o b = triangle a o b; e = on_circle e o b; p = intersection_lc p a o b; q = intersection_lc q a o e; "
        "x y = tangent x y a o b ? eqratio a p a x a x a b",
        "eqratio a p a x a b a x",
    ),
    (
        "o a = segment o a; w = on_line w o a; b = on_circle b w a; x y z i = cc_tangent x y z i o a w b; "
        "m = midpoint m x z ? perp o w x z",
        "perp o w x y",
    ),
    (f"{T}; d = s_angle b a d 90o; e = eqdistance e b c d ? perp a b a d", f"{T}; d = s_angle b a d 60o ? perp a b a d"),
    (f"{T}; x y = square x y a b ? perp a x b y", "perp a x x y"),
    (f"{T}; d = eq_triangle d b c ? cong d b b c", "cong d b a c"),
    (f"{T}; d = shift d a b c ? para a d b c; para a c d b", "para a b d c"),
    (f"{T}; d = on_aline d a b a c b ? eqangle a d a b c a c b", "eqangle a d a b c b c a"),
    (f"{T}; p q r = triangle12 p q r; s = simtri s p q r a b ? rconst a b a s 1/2", "cong a b a s"),
    ("a b c = triangle12 a b c ? r2const a b a c 1/4", "r2const a b a c 1/2"),
    (f"{T}; p = free p; q r = contri q r a b c p ? contri a b c p q r", "contrir a b c p q r"),
    (f"{T}; x y = trisect x y a b c ? eqangle b a b x b y b c", "cong x a y c"),
    (f"{T}; x y = trisegment x y a b ? rconst a x a b 1/3; cong x y y b", "rconst a x a b 1/2"),
    ("a = free a; b = lconst b a 3; c = on_tline c a a b, eqdistance c a a b ? lconst a c 3; l2const b c 18", "lconst b c 18"),
    (f"{T}; d = eqangle2 d a b c ? eqangle a b a d c d c b", "eqangle a b a d c b c d"),
    (f"{T}; d = eqangle3 d a b c a b ? cyclic a b c d", "cong d a d b"),
]


def true_statements() -> list[str]:
    return [true for true, _ in PAIRS]


def false_statements() -> list[str]:
    return [false if "?" in false else f"{true.partition('?')[0]}? {false}" for true, false in PAIRS]
