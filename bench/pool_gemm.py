#!/usr/bin/python3
"""A Python thread pool over NumPy: each of its threads multiplies matrices with OpenBLAS's OpenMP build, which opens a
region of its own each time. pool_gemm.py [--threads 4] [--products 64] [--size 256] [--samples 3]

Prints the median of the samples in ms, as JSON. Elements are small whole numbers, so every product is compared for
equality. The OpenMP build must be the libblas.so.3 that is found first (LD_LIBRARY_PATH); the program says so if it is
another."""

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy


def maps_has(name):
    with open("/proc/self/maps") as f:
        return any(name in line for line in f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--products", type=int, default=64)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--samples", type=int, default=3)
    a = parser.parse_args()
    if not maps_has("openblas-openmp"):
        sys.exit("pool_gemm: NumPy took another BLAS than OpenBLAS's OpenMP build")
    random = numpy.random.default_rng(1)
    left = [random.integers(0, 8, (a.size, a.size)).astype(float) for _ in range(4)]
    right = [random.integers(0, 8, (a.size, a.size)).astype(float) for _ in range(4)]
    wanted = [x.astype(int) @ y.astype(int) for x, y in zip(left, right)]

    def product(i):
        return left[i % 4] @ right[i % 4]

    times = []
    with ThreadPoolExecutor(a.threads) as pool:
        list(pool.map(product, range(2 * a.threads)))
        for _ in range(a.samples):
            start = time.monotonic()
            results = list(pool.map(product, range(a.products)))
            times.append((time.monotonic() - start) * 1e3)
            if any((r != wanted[i % 4]).any() for i, r in enumerate(results)):
                sys.exit("pool_gemm: a product is wrong")
    print(json.dumps({"bench": "pool", "unit": "ms", "median": statistics.median(times), "samples": a.samples}))


if __name__ == "__main__":
    main()
