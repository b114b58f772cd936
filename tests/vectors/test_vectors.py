#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the compiler made vectors of what is meant as vector code.

    test_vectors.py BUILD [CC] [-v]

Every function NAME_avx2 and NAME_avx512 of the program and the plugins in BUILD is disassembled. One that has a loop but no
register of 256 bits or more stayed scalar: what looks like a kernel costs as much as the plain code, and no test of its results
sees that. A branch inside of a loop is the usual reason, also one that a comparison hides (base/real_math.h, real_floor). -v
prints the report: instructions, those on wide registers, and scalar arithmetic, which belongs to the ends of loops.

With CC the script first shows on two functions of its own that it tells scalar code from vectors.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

KERNEL = re.compile(r"^\w+_(avx2|avx512)(\.\w+)*$")
SCALAR = re.compile(r"^v?(add|sub|mul|div|sqrt|fn?m(add|sub)\d*)s[sd]$")
# Without their names nothing would be found, and nothing be wrong.
KNOWN = ["make_laplace_cells_avx2", "judge_proposals_avx2", "near_panel_avx512", "add_residues32_avx2"]

PLANTED = """
double chain_avx2(const double *x, long n);
void scaled_avx2(double *x, long n);
__attribute__((noinline)) double chain_avx2(const double *x, long n)
{
    double sum = 1;
    for (long i = 0; i < n; i++)
        sum = sum * x[i] + 1; /* each step needs the one before */
    return sum;
}
__attribute__((noinline)) void scaled_avx2(double *x, long n)
{
    for (long i = 0; i < n; i++)
        x[i] *= 3;
}
"""


def kernels(path):
    """Name, instructions, those on wide registers, scalar arithmetic, and whether there is a loop."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    for block in listing.split("\n\n"):
        head = re.match(r"\s*([0-9a-f]+) <([\w.]+)>:", block)
        if not head or not KERNEL.match(head.group(2)):
            continue
        start, name = int(head.group(1), 16), head.group(2)
        total = wide = scalar = 0
        loop = False
        for line in block.splitlines()[1:]:
            parts = line.split("\t")
            if len(parts) < 2:
                continue
            address, text = int(parts[0].strip().rstrip(":"), 16), parts[1]
            total += 1
            wide += "%ymm" in text or "%zmm" in text
            scalar += bool(SCALAR.match(text.split(" ")[0]))
            target = re.match(r"j\w+\s+([0-9a-f]+) ", text)
            loop |= bool(target) and start <= int(target.group(1), 16) <= address
        yield name, total, wide, scalar, loop


def stayed_scalar(paths, verbose=False):
    names, wrong = set(), []
    for path in paths:
        for name, total, wide, scalar, loop in kernels(path):
            names.add(name)
            if loop and wide == 0:
                wrong.append(f"{os.path.basename(path)}: {name}")
            if verbose:
                print(f"{os.path.basename(path):24} {name:32} {total:6} {wide:6} {scalar:6}{'' if loop else '  no loop'}")
    return names, wrong


def tells_apart(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "planted.c"), os.path.join(folder, "planted.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PLANTED)
        subprocess.run([compiler, "-O3", "-mavx2", "-mno-avx512f", "-c", source, "-o", made], check=True)
        names, wrong = stayed_scalar([made])
    return names == {"chain_avx2", "scaled_avx2"} and wrong == ["planted.o: chain_avx2"]


def main(arguments):
    verbose = "-v" in arguments
    build, *compiler = [a for a in arguments if a != "-v"]
    try:
        subprocess.run(["objdump", "--version"], check=True, capture_output=True)
    except FileNotFoundError:
        print("objdump is missing: nothing is looked at")
        return 77
    if compiler and not tells_apart(compiler[0]):
        print("a planted scalar function is not told from vectors")
        return 1
    names, wrong = stayed_scalar([os.path.join(build, "dpframe")] + sorted(glob.glob(os.path.join(build, "plugins", "*.so"))), verbose)
    missing = [name for name in KNOWN if name not in names]
    for name in missing:
        print(f"{name} is not among the symbols: has it another name, or are they stripped?")
    for name in wrong:
        print(f"{name} has a loop and no vectors")
    print(f"{len(names)} kernels, {len(wrong)} scalar")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
