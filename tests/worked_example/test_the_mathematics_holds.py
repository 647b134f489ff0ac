"""Every claim of the worked example is tried on small cases, the false ones are shown to be false where they fail.

Numbers of lemmas are those of the texts in apps/explorations/worked_example/.
"""

import re
from itertools import pairwise
from math import comb, factorial, isqrt, log2, prod, sqrt

import pytest

from apps.explorations.worked_example.authored import HERE

CHAIN = (2, 3, 5, 7, 13, 23, 43, 83, 163, 317, 631, 1259, 2503)


def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, isqrt(n) + 1))


def primes(low: int, high: int) -> list[int]:
    """The primes p with low < p ≤ high."""
    return [n for n in range(max(2, low + 1), high + 1) if is_prime(n)]


def exponent(p: int, n: int) -> int:
    count = 0
    while n % p == 0:
        n //= p
        count += 1
    return count


def peeled(n: int) -> list[tuple[int, int]]:
    """The pairs that the proof makes for 1, …, 2n, with the largest prime below 4n."""
    pairs: list[tuple[int, int]] = []
    while n > 0:
        p = primes(2 * n, 4 * n - 1)[-1]
        r = p - 2 * n
        pairs += [(x, p - x) for x in range(r, 2 * n + 1) if x < p - x]
        assert (r - 1) % 2 == 0
        n = (r - 1) // 2
    return pairs


def test_the_problem_the_pairs_have_prime_sums() -> None:
    for n in range(1, 120):
        pairs = peeled(n)
        assert sorted(number for pair in pairs for number in pair) == list(range(1, 2 * n + 1))
        assert all(is_prime(a + b) for a, b in pairs)


def test_lemma_1_the_block_below_a_prime_splits() -> None:
    for m in range(1, 60):
        for p in primes(2 * m, 4 * m - 1):
            r = p - 2 * m
            assert r % 2 == 1
            assert 1 <= r <= 2 * m - 1
            block = set(range(r, 2 * m + 1))
            assert {p - x for x in block} == block
            assert all(2 * x != p for x in block)


def test_lemma_2_the_rest_is_an_even_number_of_integers_or_nothing() -> None:
    for n in range(1, 200):
        for p in primes(2 * n, 4 * n - 1):
            left = p - 2 * n - 1
            assert left % 2 == 0
            assert left // 2 < n


def test_lemma_3_the_middle_coefficient_is_large() -> None:
    for n in range(1, 300):
        assert comb(2 * n, n) == max(comb(2 * n, k) for k in range(2 * n + 1)) if n < 40 else True
        assert 4**n <= 2 * n * comb(2 * n, n)


def test_lemma_4_is_false_and_its_counterexamples_are_right() -> None:
    assert comb(10, 5) == 252 == 28 * 9 == 2**2 * 3**2 * 7
    assert comb(16, 8) == 12870 == 9 * 1430
    assert comb(26, 13) == 10400600 == 25 * 416024
    first = next((n, p) for n in range(1, 99) for p in primes(2, n) if comb(2 * n, n) % (p * p) == 0)
    assert first == (5, 3)


def test_lemma_4_only_its_fourth_step_fails_first() -> None:
    """Steps 1–3 hold everywhere; step 4 fails at the cases that the votes name."""
    for n in range(1, 120):
        for p in primes(2, 2 * n):
            terms = [2 * n // p**i - 2 * (n // p**i) for i in range(1, 12)]
            assert set(terms) <= {0, 1}
            assert sum(terms) == exponent(p, comb(2 * n, n))
            q, s = divmod(n, p)
            assert (terms[0] == 1) == (2 * s >= p)
            if terms[0]:
                assert 2 * n // p == 2 * q + 1
                assert terms[1] == (2 * q + 1) // p - 2 * (q // p)
    for n, p in ((5, 3), (8, 3), (13, 5)):
        q, s = divmod(n, p)
        assert 2 * s >= p
        assert (2 * q + 1) // p != 2 * (q // p)


def test_lemma_5_the_exponent_of_a_prime_in_a_factorial() -> None:
    for n in range(1, 80):
        for p in primes(1, n + 3):
            assert exponent(p, factorial(n)) == sum(n // p**i for i in range(1, 12))


def test_lemma_6_prime_powers_stay_below_2n() -> None:
    for n in range(1, 250):
        for p in primes(1, 2 * n):
            a = exponent(p, comb(2 * n, n))
            assert p**a <= 2 * n
            assert a <= 1 or p * p <= 2 * n


def test_lemma_7_fails_exactly_at_n_2_and_p_2() -> None:
    window = [(n, p) for n in range(1, 250) for p in primes(0, n) if 3 * p > 2 * n]
    assert [(n, p) for n, p in window if comb(2 * n, n) % p == 0] == [(2, 2)]
    assert exponent(2, factorial(4)) == 3


def test_lemma_7_fixed_holds_and_only_the_first_powers_count() -> None:
    for n in range(3, 250):
        for p in primes(2 * n // 3, n):
            assert 3 * p > 2 * n
            assert p * p > 2 * n
            assert (2 * n // p, n // p) == (2, 1)
            assert comb(2 * n, n) % p != 0


def test_lemma_8_the_middle_of_an_odd_row() -> None:
    assert all(comb(2 * m + 1, m) <= 4**m for m in range(1, 400))


def test_lemma_9_the_product_of_the_primes() -> None:
    for n in range(1, 400):
        assert prod(primes(1, n)) <= 4**n
    for m in range(1, 150):
        assert comb(2 * m + 1, m) % prod(primes(m + 1, 2 * m + 1)) == 0


def test_lemma_10_the_three_ranges_bound_the_coefficient() -> None:
    """No n has an empty (n, 2n], so what the proof says of the primes up to n is tried for all n."""
    for n in range(3, 250):
        below = {p: exponent(p, comb(2 * n, n)) for p in primes(1, n)}
        dividing = [p for p, a in below.items() if a]
        assert all(3 * p <= 2 * n for p in dividing)
        small = [p for p in dividing if p * p <= 2 * n]
        assert len(small) <= sqrt(2 * n)
        assert prod(p ** below[p] for p in small) <= (2 * n) ** isqrt(2 * n)
        large = [p for p in dividing if p * p > 2 * n]
        assert prod(large) <= prod(primes(1, 2 * n // 3)) <= 4 ** (2 * n // 3)


def test_lemma_11_the_inequality_turns_below_500_and_surely_at_2048() -> None:
    def exceeds(n: int) -> bool:
        return 2 * n / 3 > (1 + sqrt(2 * n)) * log2(2 * n)

    assert not exceeds(450)
    assert exceeds(500)
    assert all(exceeds(n) for n in [*range(2048, 20000), 10**5, 10**6, 10**9])
    assert all(2**k >= 7 * (k + 1) for k in range(6, 60))
    assert 32 < 6 * 6 * (1 + 1 / 32) < 37.2
    assert 42.6 < 6 * 7 * (1 + 1 / 64) < 42.7
    assert 65 / 64 < 7 / 6


def test_lemma_12_the_chain_of_primes() -> None:
    assert all(is_prime(p) for p in CHAIN)
    assert all(after < 2 * before for before, after in pairwise(CHAIN))
    assert 1261 == 13 * 97
    text = (HERE / "s0.r3.lemmas.md").read_text(encoding="utf-8")
    assert ",".join(map(str, CHAIN)) in text
    for after, double in re.findall(r"\$(\d+)<(\d+)\$", text.split("# Lemma 12")[1].split("3. Given")[0]):
        assert int(after) in CHAIN
        assert int(double) == 2 * CHAIN[CHAIN.index(int(after)) - 1]
    assert all(any(N < p < 2 * N for p in CHAIN) for N in range(2, 2503))


def test_lemma_13_a_prime_between_n_and_2n() -> None:
    assert all(primes(N, 2 * N - 1) for N in range(2, 400))


def test_other_rollout_lemma_3_primes_between_n_and_2n_divide() -> None:
    for n in range(1, 200):
        product = prod(primes(n, 2 * n))
        assert comb(2 * n, n) % product == 0
        assert product <= 4**n


def test_other_rollout_lemma_5_counts_primes() -> None:
    assert all(4**n <= (2 * n) ** (len(primes(1, 2 * n)) + 1) for n in range(1, 200))


def test_other_rollout_lemma_6_powers_of_two() -> None:
    assert all(prod(primes(1, 2**k)) <= 4 ** (2**k - 1) for k in range(1, 11))


@pytest.mark.parametrize("n", range(1, 7))
def test_other_rollout_lemma_7_one_sum_for_all_pairs(n: int) -> None:
    def splits(numbers: frozenset[int], total: int) -> bool:
        if not numbers:
            return True
        partner = total - max(numbers)
        return partner != max(numbers) and partner in numbers and splits(numbers - {max(numbers), partner}, total)

    everything = frozenset(range(1, 2 * n + 1))
    assert any(splits(everything, p) for p in primes(2, 4 * n)) == is_prime(2 * n + 1)


def test_the_numbers_in_the_prose_are_right() -> None:
    assert [comb(2 * n, n) for n in range(1, 5)] == [2, 6, 20, 70]
    assert comb(12, 6) == 924 == 4 * 3 * 7 * 11
    assert comb(20, 10) == 184756 == 2**2 * 11 * 13 * 17 * 19
    assert comb(26, 13) == 2**3 * 5**2 * 7 * 17 * 19 * 23
    assert factorial(10) == 2**8 * 14175
    assert factorial(9) == 362880 == 81 * 4480
    assert int("12", 3) == 5
    assert int("101", 3) == 10
    assert 53**2 == 2809
    assert (4**4, 8**5) == (256, 32768)


def test_the_greedy_pairs_of_the_other_rollout() -> None:
    assert greedy(5) == [(10, 9), (8, 5), (7, 6), (4, 3), (2, 1)]
    assert greedy(7) == [(14, 9), (13, 10), (12, 11), (8, 5), (7, 6), (4, 3), (2, 1)]


def greedy(n: int) -> list[tuple[int, int]]:
    left = set(range(1, 2 * n + 1))
    pairs = []
    while left:
        top = max(left)
        partner = max(number for number in left - {top} if is_prime(top + number))
        pairs.append((top, partner))
        left -= {top, partner}
    return pairs


def test_any_pairing_holds_a_prime_between_2n_and_4n() -> None:
    """What the second rollout finds: the partner of 2n makes a sum in (2n, 4n)."""
    assert all(2 * n < 2 * n + partner < 4 * n for n in range(1, 50) for partner in range(1, 2 * n))
