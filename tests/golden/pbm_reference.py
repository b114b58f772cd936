#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exact divergences of the Poisson binomial mechanism, as rows of accounting.tsv: python3 pbm_reference.py

A client at x in [-1, 1] sends Binomial(q, 1/2 + theta x) (Chen, Ozgur, Kairouz, arXiv 2207.09916, Algorithm 1),
and the sum of n clients is seen. Laws of sums are products of generating functions with integer coefficients:
nothing is rounded before the last sum, which has 40 digits. Neighbours are tried one by one, without a theorem
about which is the worst, and so no line of the accountants is used:

  ends     the others stand at -1 or 1; the client goes between -1 and 1 (replace), or from either to 0 (zero-out)
  lattice  the others and the client stand anywhere in {-1, -1/2, 0, 1/2, 1}
  some     as ends, but every 37th number of others at 1: a pair that exists, hence still a lower bound

Values are rounded down, so an accountant that is below one is wrong (sense least, tolerance 0). Needs mpmath.
"""
from fractions import Fraction
from itertools import combinations_with_replacement, product

from mpmath import exp, floor, log, log10, mp, mpf

mp.dps = 40


def multiply(a, b):
    """Product of two polynomials with coefficients >= 0, as one product of integers."""
    bits = max(a).bit_length() + max(b).bit_length() + min(len(a), len(b)).bit_length()

    def packed(p):
        return int.from_bytes(b"".join(c.to_bytes(size, "little") for c in p), "little")

    size = bits // 8 + 1
    whole = (packed(a) * packed(b)).to_bytes(size * (len(a) + len(b)), "little")
    return [int.from_bytes(whole[i * size:(i + 1) * size], "little") for i in range(len(a) + len(b) - 1)]


def power(p, n):
    out = [1]
    for bit in bin(n)[2:]:
        out = multiply(out, out)
        if bit == "1":
            out = multiply(out, p)
    return out


class Cohort:
    """Masses in units of (1/unit)^(n q)."""

    def __init__(self, theta, q, n):
        self.theta, self.q, self.n = Fraction(theta), q, n
        self.unit = 2 * 2 * self.theta.denominator
        self.one = mpf(self.unit) ** (n * q)

    def clients(self, x, count):
        p = (Fraction(1, 2) + self.theta * Fraction(x)) * self.unit
        assert p.denominator == 1
        return power([self.unit - int(p), int(p)], count * self.q)

    def ends(self, adjacency, step=1):
        high, low, middle = (self.clients(x, 1) for x in (1, -1, 0))
        for up in range(0, self.n, step):
            others = multiply(self.clients(1, up), self.clients(-1, self.n - 1 - up))
            for a, b in [(high, low)] if adjacency == "replace" else [(high, middle), (low, middle)]:
                yield multiply(others, a), multiply(others, b)

    def lattice(self, adjacency):
        places = [Fraction(i, 2) for i in range(-2, 3)]
        for stand in combinations_with_replacement(places, self.n - 1):
            others = [1]
            for x in stand:
                others = multiply(others, self.clients(x, 1))
            for x, y in product(places, places if adjacency == "replace" else [0]):
                if x != y:
                    yield multiply(others, self.clients(x, 1)), multiply(others, self.clients(y, 1))

    def pairs(self, search, adjacency):
        found = self.lattice(adjacency) if search == "lattice" else self.ends(adjacency, 37 if search == "some" else 1)
        for p, q in found:
            yield p, q
            yield q, p

    def renyi(self, order, search, adjacency):
        a = mpf(order)
        most = max(sum(mpf(p) ** a * mpf(q) ** (1 - a) for p, q in zip(*pair)) for pair in self.pairs(search, adjacency))
        return log(most / self.one) / (a - 1)

    def delta(self, epsilon, search, adjacency):
        y = exp(mpf(epsilon))
        return max(sum(max(p - y * q, 0) for p, q in zip(*pair)) for pair in self.pairs(search, adjacency)) / self.one

    def delta_of_two(self, epsilon, adjacency):
        """Of two coordinates, each with others of its own."""
        y, most = exp(mpf(epsilon)), 0
        pairs = list(self.ends(adjacency))
        for (p, q), (r, s) in product(pairs, pairs):
            joint = [(a * b, c * d) for a, c in zip(p, q) for b, d in zip(r, s)]
            most = max(most, sum(max(a - y * b, 0) for a, b in joint), sum(max(b - y * a, 0) for a, b in joint))
        return most / self.one ** 2


def down(value):
    """15 digits, not above the value."""
    places = 14 - int(floor(log10(value)))
    digits = str(int(floor(value * mpf(10) ** places)))
    return f"{digits[0]}.{digits[1:]}e{len(digits) - 1 - places}"


# accountant, theta, q, n, coordinates, adjacency, search, order or epsilon, how far above an accountant may be.
ROWS = [
    ("rdp", ".25", 1, 10, 1, "zero-out", "ends", "2", "1e-9"),
    ("rdp", ".25", 1, 10, 1, "zero-out", "ends", "16", "1e-9"),
    ("rdp", ".1", 1, 50, 1, "zero-out", "ends", "4", "1e-9"),
    ("rdp", ".1", 1, 50, 1, "replace", "ends", "1.5", "1e-9"),
    ("rdp", ".01", 1, 100, 1, "replace", "ends", "64", "1e-9"),
    ("rdp", ".25", 8, 6, 1, "replace", "ends", "8", "1e-9"),
    ("rdp", ".25", 8, 6, 1, "zero-out", "ends", "8", "1e-9"),
    ("rdp", ".05", 16, 20, 1, "replace", "ends", "32", "1e-9"),
    ("rdp", ".25", 2, 4, 1, "replace", "lattice", "3", "1e-9"),
    ("rdp", ".25", 1, 5, 1, "zero-out", "lattice", "3", "1e-9"),
    ("rdp", ".25", 1, 1000, 1, "zero-out", "some", "4", ".01"),
    ("rdp", ".1", 4, 300, 1, "replace", "some", "16", ".01"),
    ("pld", ".25", 1, 10, 1, "replace", "ends", ".3", "1e-4"),
    ("pld", ".25", 1, 10, 1, "zero-out", "ends", ".1", "1e-4"),
    ("pld", ".1", 1, 50, 1, "replace", "ends", ".05", "1e-4"),
    ("pld", ".05", 16, 20, 1, "replace", "ends", ".5", "1e-3"),
    ("pld", ".25", 8, 6, 1, "zero-out", "ends", "1", "1e-4"),
    ("pld", ".25", 2, 4, 1, "replace", "lattice", ".5", "1e-4"),
    ("pld", ".25", 1, 5, 1, "zero-out", "lattice", ".2", "1e-4"),
    ("pld", ".1", 4, 300, 1, "replace", "some", ".02", ".01"),
    ("pld", ".25", 1, 6, 2, "replace", "ends", ".5", ".2"),
    ("pld", ".25", 1, 6, 2, "zero-out", "ends", ".25", ".2"),
]

for accountant, theta, q, n, coordinates, adjacency, search, at, above in ROWS:
    cohort = Cohort("0" + theta, q, n)
    if accountant == "rdp":
        value, quantity = cohort.renyi(at, search, adjacency), "rdp"
    elif coordinates == 2:
        value, quantity = cohort.delta_of_two(at, adjacency), "delta"
    else:
        value, quantity = cohort.delta(at, search, adjacency), "delta"
    for sense, tolerance in (("least", "0"), ("most", above)):
        print(accountant, "-", "-", f"pbm p0={theta} p1={q} p2={n} p3={coordinates}", f"{quantity}/{adjacency}", at,
              down(value), tolerance, sense, f"pbm_reference.py, neighbours: {search}, {coordinates} "
              f"coordinate{'s' if coordinates == 2 else ''}; mechanism of arXiv 2207.09916", sep="\t")
