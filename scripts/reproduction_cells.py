# SPDX-License-Identifier: Apache-2.0
"""reproduction_cells - the cells of docs/reproduction/cells, the verdicts that follow from them, and figures outside of marks.

A file NAME.tsv has the cells of the sweep configs/reproduce/NAME.ini: variant, point ("rank=10; kind=random"), metric, runs, mean and
standard deviation. Its first line names the configuration's hash and the program that made them. For scripts/document-tables.
"""
import math
import os
import re

LEAST_RUNS = 5  # behind a verdict
SAME_ORDER = 0.9  # least rank correlation


class Cell:
    """Mean and standard deviation of some runs; exact: all are the same number."""

    def __init__(self, runs, mean, deviation):
        self.runs, self.mean, self.deviation = runs, mean, deviation
        self.exact = runs == 1 or not deviation

    @staticmethod
    def of(values):
        if isinstance(values, Cell) or not values:
            return values or None
        mean = sum(values) / len(values)
        if len(values) == 1:
            return Cell(1, mean, None)
        exact = all(value == values[0] for value in values)
        return Cell(len(values), mean, 0.0 if exact else math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))

    def __len__(self):
        return self.runs


def point_of(text):
    return dict(part.split("=", 1) for part in text.split("; ")) if text else {}


class Cells:
    """A file of cells; answers as the results of a sweep do."""

    def __init__(self, path, fail):
        self.name = os.path.basename(path)[:-len(".tsv")]
        self.fail = fail
        self.rows = []
        with open(path, encoding="utf-8") as file:
            head = file.readline()
            found = re.match(r"# configs/reproduce/(\S+)\.ini, ([0-9a-f]{12}), (.+)\n", head)
            if not found or found.group(1) != self.name:
                fail(f"{path}: the first line does not name its configuration, hash and program")
            self.hash, self.made_by = found.group(2), found.group(3)
            for n, line in enumerate(file, 2):
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 6:
                    fail(f"{path}:{n}: {len(fields)} fields; variant, point, metric, runs, mean, deviation")
                variant, point, metric, runs, mean, deviation = fields
                self.rows.append((variant, point_of(point), metric,
                                  Cell(int(runs), float(mean), float(deviation) if deviation else None)))
        self.axes = list(dict.fromkeys(axis for row in self.rows for axis in row[1]))

    def axis(self, name):
        for axis in self.axes:
            if name in (axis, axis.rsplit(".", 1)[-1]):
                return axis
        return name

    def variants(self):
        return list(dict.fromkeys(row[0] for row in self.rows if not row[0].startswith("formula ")))

    def axis_values(self, axis):
        return list(dict.fromkeys(row[1][axis] for row in self.rows if axis in row[1]))

    def values(self, variant, where, metric, over=None):
        found = [(point, cell) for of, point, what, cell in self.rows
                 if of == variant and what == metric and all(point.get(axis, value) == value for axis, value in where.items())]
        if not found:
            return None
        if over and any(over in point for point, _ in found):
            return Cell.of([cell.mean for _, cell in found])
        if len({tuple(sorted(point.items())) for point, _ in found}) > 1:
            self.fail(f"{self.name}: {variant} {metric} has more than one point {where}; add \"where AXIS VALUE\"")
        return found[0][1]


def write_cells(path, name, digest, program, rows):
    """rows: (variant, {axis: value}, metric, Cell)"""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# configs/reproduce/{name}.ini, {digest}, {program}\n")
        for variant, point, metric, cell in rows:
            where = "; ".join(f"{axis}={value}" for axis, value in point.items())
            deviation = "" if cell.deviation is None else f"{cell.deviation:.6g}"
            file.write(f"{variant}\t{where}\t{metric}\t{cell.runs}\t{cell.mean:.8g}\t{deviation}\n")


# ---------------------------------------------------------------- verdicts

def last_digit(text):
    """Half of the last digit of a printed number."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def agrees(cell, text, value, deviation):
    return abs(cell.mean - value) <= 2 * math.hypot(cell.deviation or 0, deviation or 0) + last_digit(text)


def paired_text(lines, shown):
    """Of one line of a sweep's tables.csv: the difference to the baseline, its interval, and p; nothing of the baseline itself."""
    if len(lines) != 1 or not lines[0]["low"]:
        return ""
    line = {key: float(lines[0][key]) for key in ("difference", "low", "high", "p_holm")}
    p = "p < .001" if line["p_holm"] < 0.001 else "p = " + shown(line["p_holm"])
    return f"{shown(line['difference'])} ({shown(line['low'])} to {shown(line['high'])}), {p}"


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in range(at, end + 1):
            out[order[i]] = (at + end) / 2
        at = end + 1
    return out


def rank_correlation(x, y):
    a, b = ranks(x), ranks(y)
    mean = (len(x) - 1) / 2
    product = sum((p - mean) * (q - mean) for p, q in zip(a, b))
    squares = sum((p - mean) ** 2 for p in a) * sum((q - mean) ** 2 for q in b)
    return product / math.sqrt(squares) if squares > 0 else 0.0


def seeds(runs):
    return f"{runs} seed{'' if runs == 1 else 's'}: no verdict"


def verdict(cells, published, metrics, variants, where):
    """The sentence of a verdict mark. published: as read_published of document-tables gives it."""
    judged = agree = few = 0
    here, there = [], []
    least = None
    for (config, variant, key, metric), (text, value, deviation) in published.items():
        if config != cells.name or metric not in metrics or (variants and variant not in variants):
            continue
        found = {id(cell): cell for of, point, what, cell in cells.rows
                 if of == variant and what == metric and (not key or key in point.values())
                 and all(point.get(axis, wanted) == wanted for axis, wanted in where.items())}
        if len(found) > 1:
            cells.fail(f"verdict of {cells.name}: {variant} {metric} {key} has more than one cell; add \"where AXIS VALUE\"")
        for cell in found.values():
            here.append(cell.mean)
            there.append(value)
            least = cell.runs if least is None else min(least, cell.runs)
            if cell.runs < LEAST_RUNS:
                few += 1
                continue
            judged += 1
            agree += agrees(cell, text, value, deviation)
    if not here:
        cells.fail(f"verdict of {cells.name}: published.tsv has nothing of {', '.join(metrics)}")
    if not judged:
        return seeds(least)
    text = f"{'reproduced' if agree == judged else 'differs'}: {agree} of {judged} cells agree"
    if few:
        text += f", {few} more have too few seeds"
    if len(here) >= 4:
        rho = rank_correlation(here, there)
        text += f"; {'the same order' if rho >= SAME_ORDER else 'another order'}, rank correlation {rho:.2f}"
    return text


def order_verdict(cells, metric, where, exact, chain):
    """The sentence of an order mark: A < B@axis=value < C"""
    names, found = [], []
    for word in (part.strip() for part in chain.split("<")):
        variant, *points = word.split("@")
        point = {cells.axis(axis): value for axis, value in (p.split("=", 1) for p in points)}
        cell = cells.values(variant, {**where, **point}, metric)
        if not cell:
            cells.fail(f"order of {cells.name}: there is no {word} {metric}")
        names.append(" at ".join([variant] + points))
        found.append(cell)
    if not exact and min(cell.runs for cell in found) < LEAST_RUNS:
        return seeds(min(cell.runs for cell in found))
    words = {"holds": [], "level": [], "reversed": []}
    for i in range(len(found) - 1):
        gap = found[i + 1].mean - found[i].mean
        spread = 2 * math.hypot(found[i].deviation or 0, found[i + 1].deviation or 0)
        kind = "holds" if gap > spread else "level" if gap >= -spread else "reversed"
        words[kind].append(f"{names[i]} and {names[i + 1]}")
    if not words["level"] and not words["reversed"]:
        return "reproduced: " + " < ".join(names)
    return "differs: " + "; ".join(f"{', '.join(pairs)} {'are level' if kind == 'level' else 'the other way round'}"
                                   for kind, pairs in words.items() if pairs and kind != "holds")


# ---------------------------------------------------------------- what commands outside of sweeps have printed

def measured_table(path, fail):
    """A table of measured/NAME.tsv: "# COMMAND", "# program and date", the head, the rows."""
    if not os.path.isfile(path):
        fail(f"{path} is missing")
    with open(path, encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    if len(lines) < 4 or not lines[0].startswith("# ") or not lines[1].startswith("# "):
        fail(f"{path}: the first two lines name the command and what made the figures")
    rows = [line.split("\t") for line in lines[2:]]
    if any(len(row) != len(rows[0]) for row in rows):
        fail(f"{path}: rows of different lengths")
    table = ["| " + " | ".join(row) + " |" for row in rows]
    table.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(table) + f"\n\n`{lines[0][2:]}`, {lines[1][2:]}.\n"


# ---------------------------------------------------------------- figures outside of marks

MARKED = re.compile(r"<!-- (?:table|value|formula|verdict|order|printed|measured|sources)\b.*?<!-- end -->", re.S)
BLOCK = re.compile(r"^```.*?^```", re.S | re.M)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\([^)]*\)")
NUMBERED = re.compile(r"(?:arXiv|[Ss]ections?|Eq\.|Equations?|Tables?|Figures?|Theorems?|Lemmas?|Algorithms?|[Aa]ppendix|version) "
                      r"[0-9IVX.]+(?:(?:, | and | to |–|-)[0-9IVX.]+)*")
FIGURE = re.compile(r"(?<![\w.])\d*\.\d+|\d,\d{3}|\d+(?:\.\d+)? ?%|±")


def loose_figures(text):
    """[(line, figure)]: numbers that no mark, command or code accounts for."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    for pattern in (MARKED, BLOCK, CODE, LINK, NUMBERED):
        text = pattern.sub(blank, text)
    return [(text.count("\n", 0, match.start()) + 1, match.group(0)) for match in FIGURE.finditer(text)]
