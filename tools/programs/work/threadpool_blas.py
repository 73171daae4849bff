"""A Python thread pool over NumPy on OpenBLAS's OpenMP build: each worker is a kernel thread of its own that opens
teams. Then a forked pool after use, and a thread pool in each of its children."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def work(seed):
    rng = np.random.default_rng(seed)
    a = rng.random((220, 220))
    total = 0.0
    for _ in range(12):
        a = a @ a.T
        a /= np.abs(a).max()
        total += float(np.linalg.solve(a + 220 * np.eye(220), a[:, 0]).sum())
    return total


def in_child(seed):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(work, range(seed, seed + 4)))


start = time.perf_counter()
with ThreadPoolExecutor(4) as pool:
    threads = list(pool.map(work, range(24)))
print("time", time.perf_counter() - start)
print("result threads", sum(threads))
if "--fork" in sys.argv:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked = pool.map_async(in_child, [0, 8, 16]).get(60)
    print("result forked", sum(forked))
