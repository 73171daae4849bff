"""numba's OpenMP layer (NUMBA_THREADING_LAYER=omp): parallel loops and reductions, compiled here and now."""

import time

import numba
import numpy as np


@numba.njit(parallel=True)
def smooth(a, b, passes):
    for _ in range(passes):
        for i in numba.prange(1, a.shape[0] - 1):
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
        for i in numba.prange(1, a.shape[0] - 1):
            a[i] = b[i]


@numba.njit(parallel=True)
def norm(a):
    total = 0.0
    for i in numba.prange(a.shape[0]):
        total += a[i] * a[i]
    return total


a = np.arange(200000, dtype=np.float64) % 1009
b = a.copy()
smooth(a, b, 1)
norm(a)
start = time.perf_counter()
smooth(a, b, 500)
total = sum(norm(a) for _ in range(300))
print("time", time.perf_counter() - start)
print("result layer_is_omp", int(numba.threading_layer() == "omp"))
print("result total", total)
print("result smooth", a[1000], a[150000])
