"""The claims of the sample library in algebra and number theory, checked by brute force or in exact arithmetic.

An identity between polynomials of degree at most d in each variable is checked on a grid of d + 1 values for
each variable, which proves it.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations, product
from math import factorial, gcd, isqrt
from random import Random

import pytest

Triple = tuple[Fraction, Fraction, Fraction]


def cyclic(term: Callable[[Fraction, Fraction, Fraction], Fraction], a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    return term(a, b, c) + term(b, c, a) + term(c, a, b)


def grid(low: int, size: int) -> Iterator[Triple]:
    values = [Fraction(value) for value in range(low, low + size)]
    yield from ((a, b, c) for a, b, c in product(values, repeat=3))


def random_triples(count: int) -> Iterator[Triple]:
    rng = Random(1903)
    for _ in range(count):
        a, b, c = (Fraction(rng.randint(1, 1000), rng.randint(1, 1000)) for _ in range(3))
        yield a, b, c


def prime_divisors(number: int) -> set[int]:
    found = set()
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.add(divisor)
            number //= divisor
        divisor += 1
    return found | ({number} if number > 1 else set())


def test_nesbitts_inequality_and_its_sum_of_squares() -> None:
    for a, b, c in [*random_triples(300), *grid(1, 6)]:
        excess = cyclic(lambda x, y, z: x / (y + z), a, b, c) - Fraction(3, 2)
        assert excess == cyclic(lambda x, y, z: (x - y) ** 2 / (2 * (y + z) * (z + x)), a, b, c)
        assert excess >= 0
        assert (excess == 0) == (a == b == c)


def test_nesbitts_inequality_after_the_substitution() -> None:
    for a, b, c in random_triples(100):
        x, y, z = b + c, c + a, a + b
        assert cyclic(lambda a, b, c: a / (b + c), a, b, c) == cyclic(lambda x, y, z: x / y + y / x, x, y, z) / 2 - Fraction(
            3, 2
        )


def test_nesbitts_inequality_with_denominators_cleared() -> None:
    for a, b, c in random_triples(100):
        cubes, mixed = a**3 + b**3 + c**3, cyclic(lambda x, y, _: x * y * (x + y), a, b, c)
        excess = cyclic(lambda x, y, z: x / (y + z), a, b, c) - Fraction(3, 2)
        assert excess * 2 * (a + b) * (b + c) * (c + a) == 2 * cubes - mixed


def sides_expression(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    return cyclic(lambda a, b, c: a * a * b * (a - b), a, b, c)


def test_the_first_term_of_the_triangle_inequality_is_expanded_rightly() -> None:
    for x, y, z in grid(-2, 5):
        expanded = y**3 * z + x * y**3 + y * z**3 - x * z**3 - x * x * y * y + 2 * y * y * z * z - x * x * z * z
        expanded += x * y * y * z - x * y * z * z - 2 * x * x * y * z
        a, b = y + z, z + x
        assert a * a * b * (a - b) == expanded


def test_the_triangle_inequality_reduces_to_the_halves() -> None:
    for x, y, z in grid(-2, 5):
        reduced = cyclic(lambda x, y, _: x * y**3, x, y, z) - x * y * z * (x + y + z)
        assert sides_expression(y + z, z + x, x + y) == 2 * reduced


def test_the_identity_with_visible_signs() -> None:
    for a, b, c in grid(-2, 5):
        first, second = a * (b - c) ** 2 * (b + c - a), b * (a - b) * (a - c) * (a + b - c)
        assert sides_expression(a, b, c) == first + second
        assert first == a * b**3 + a * c**3 - a * b * b * c - a * b * c * c - (a * b) ** 2 - (a * c) ** 2 + 2 * a * a * b * c
        assert second == a**3 * b - a * b**3 + b**3 * c - (b * c) ** 2 + a * b * b * c + a * b * c * c - 2 * a * a * b * c


def test_the_triangle_inequality_of_1983_with_its_equality_case() -> None:
    for x, y, z in [*random_triples(300), *grid(1, 6)]:
        value = sides_expression(y + z, z + x, x + y)
        assert value >= 0
        assert (value == 0) == (x == y == z)


def test_the_triangle_inequality_of_1983_needs_a_triangle() -> None:
    assert any(sides_expression(a, b, c) < 0 for a, b, c in grid(1, 9))


def test_the_inequality_of_1995_and_the_steps_of_both_proofs() -> None:
    for a, b, _ in random_triples(300):
        c = 1 / (a * b)
        value = cyclic(lambda a, b, c: 1 / (a**3 * (b + c)), a, b, c)
        x, y, z = 1 / a, 1 / b, 1 / c
        assert value == cyclic(lambda x, y, z: x * x / (y + z), x, y, z)
        assert 2 * value >= x + y + z >= 3
        assert 3 * value >= (x + y + z) * cyclic(lambda x, y, z: x / (y + z), x, y, z)
        assert value >= Fraction(3, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_only_the_identity_grows_faster_than_its_iterate(size: int) -> None:
    """The proofs hold word for word for functions from {1, ..., N} to itself, and these can be listed."""
    found = [
        values
        for values in product(range(1, size + 1), repeat=size)
        if all(values[n] > values[values[n - 1] - 1] for n in range(1, size))
    ]
    identity = tuple(range(1, size + 1))
    assert found == [identity] if size > 1 else identity in found


def test_the_linear_solutions_of_the_equation_of_2019() -> None:
    points = list(product(range(-4, 5), repeat=2))
    for k, c in product(range(-6, 7), repeat=2):
        solves = all(2 * k * a + c + 2 * (k * b + c) == k * (k * (a + b) + c) + c for a, b in points)
        assert solves == (k == 2 or (k == 0 and c == 0))


def test_the_equation_of_2019_forces_constant_differences() -> None:
    """On a small cyclic group of odd order the same two substitutions apply; all functions there are tried."""
    order = 5
    for f in product(range(order), repeat=order):
        pairs = product(range(order), repeat=2)
        if all((f[2 * a % order] + 2 * f[b] - f[f[(a + b) % order]]) % order == 0 for a, b in pairs):
            assert len({(f[(n + 1) % order] - f[n]) % order for n in range(order)}) == 1


def test_the_fraction_of_1959_is_in_lowest_terms() -> None:
    assert all(gcd(21 * n + 4, 14 * n + 3) == 1 == 3 * (14 * n + 3) - 2 * (21 * n + 4) for n in range(1, 5000))


def test_powers_of_two_modulo_seven() -> None:
    for n in range(1, 500):
        assert ((2**n - 1) % 7 == 0) == (n % 3 == 0)
        assert (2**n + 1) % 7 in {2, 3, 5}


def test_the_quotient_of_1988_is_the_square_of_the_greatest_common_divisor() -> None:
    found = 0
    for a in range(1, 1500):
        for b in range(1, a + 1):
            quotient, rest = divmod(a * a + b * b, a * b + 1)
            if rest == 0:
                found += 1
                assert quotient == gcd(a, b) ** 2 == isqrt(quotient) ** 2
    assert found > 11


def test_the_descent_of_1988_ends_at_zero() -> None:
    for d in range(2, 8):
        x, y = d**3, d
        for _ in range(6):
            x, y = d * d * x - y, x
        while y:
            assert x * x + y * y == d * d * (x * y + 1)
            assert 0 <= d * d * y - x < y
            x, y = y, d * d * y - x
        assert x == d


def test_every_prime_divides_a_term_of_the_sequence_of_2005() -> None:
    assert 2**2 + 3**2 + 6**2 - 1 == 48
    for p in (p for p in range(5, 3000) if prime_divisors(p) == {p}):
        assert (pow(2, p - 2, p) + pow(3, p - 2, p) + pow(6, p - 2, p) - 1) % p == 0


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_explicit_run_has_no_prime_power(length: int) -> None:
    start = factorial(length + 1) ** 2
    for k in range(2, length + 2):
        assert gcd(k, start // k + 1) == 1
        assert len(prime_divisors(start + k)) >= 2


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_congruences_give_a_run_without_prime_powers(length: int) -> None:
    primes = [p for p in range(2, 60) if prime_divisors(p) == {p}][: 2 * length]
    moduli = [primes[2 * i] * primes[2 * i + 1] for i in range(length)]
    x, step = 0, 1
    for i, modulus in enumerate(moduli, start=1):
        while (x + i) % modulus:
            x += step
        step *= modulus
    assert all(len(prime_divisors(x + i)) >= 2 for i in range(1, length + 1))


def test_the_cyclic_expression_of_1983_is_not_symmetric() -> None:
    """The marking scheme caps proofs that assume an order as if it were."""
    sides = (Fraction(3), Fraction(4), Fraction(5))
    assert len({sides_expression(a, b, c) for a, b, c in permutations(sides)}) == 2
