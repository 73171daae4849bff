#!/usr/bin/python3
"""spheres.py [--points N] [--dim D] [--clusters C] [--radius R] [--seed S] FILE.csv|FILE.npy

Writes points in spherical clusters: centres are uniform in the unit cube, points are normal around them. The same
arguments give the same file everywhere; only Python's standard library is needed."""

import argparse
import array
import random
import sys
from pathlib import Path


def spheres(num, dim, clusters, radius, seed):
    """Rows of numbers; point i belongs to cluster i % clusters."""
    draw = random.Random(seed)
    centres = [[draw.random() for _ in range(dim)] for _ in range(clusters)]
    for i in range(num):
        yield [x + draw.gauss(0, radius) for x in centres[i % clusters]]


def npy_header(num, dim, descr="<f8", fortran=False):
    """Version 1 of NumPy's format: padded so that the numbers begin at a multiple of 64."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({num}, {dim}), }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def write(path, rows, num, dim):
    """To a temporary name first: nobody sees half a file."""
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as out:
            if path.suffix == ".npy":
                out.write(npy_header(num, dim))
            for row in rows:
                if path.suffix == ".npy":
                    numbers = array.array("d", row)
                    if sys.byteorder == "big":
                        numbers.byteswap()
                    out.write(numbers.tobytes())
                else:
                    out.write((",".join(map(repr, row)) + "\n").encode())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--dim", type=int, default=24)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--radius", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=2004)
    parser.add_argument("file", type=Path)
    a = parser.parse_args()
    if a.file.suffix not in (".csv", ".npy"):
        parser.error(f"{a.file}: expected a name that ends in .csv or .npy")
    if min(a.points, a.dim, a.clusters) < 1:
        parser.error("--points, --dim and --clusters must be at least 1")
    write(a.file, spheres(a.points, a.dim, a.clusters, a.radius, a.seed), a.points, a.dim)


if __name__ == "__main__":
    main()
