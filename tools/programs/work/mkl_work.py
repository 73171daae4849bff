"""Intel's MKL from its wheel, called through its C interface; its threads are libiomp5's (MKL_THREADING_LAYER=INTEL) or
libgomp's (GNU)."""

import ctypes
import sys
import time
from pathlib import Path

import numpy as np

library = next(iter(sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))))
mkl = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
c_double_p = ctypes.POINTER(ctypes.c_double)


def pointer(a):
    return a.ctypes.data_as(c_double_p)


def product(a, b):
    c, n = np.zeros_like(a), a.shape[0]
    mkl.cblas_dgemm(101, 111, 111, n, n, n, ctypes.c_double(1), pointer(a), n, pointer(b), n, ctypes.c_double(0),
                    pointer(c), n)
    return c


rng = np.random.default_rng(2)
a, b = rng.random((900, 900)), rng.random((900, 900))
start = time.perf_counter()
for _ in range(6):
    c = product(a, b)
u, pivots = a.copy(), np.zeros(900, dtype=np.int32)
info = mkl.LAPACKE_dgetrf(101, 900, 900, pointer(u), 900, pivots.ctypes.data_as(ctypes.POINTER(ctypes.c_int)))
small_a, small_b = a[:120, :120].copy(), b[:120, :120].copy()
for _ in range(300):
    small = product(small_a, small_b)
print("time", time.perf_counter() - start)
print("result threads_more_than_one", int(mkl.mkl_get_max_threads() > 1))
print("result right", int(np.allclose(c, a @ b)), int(np.allclose(small, small_a @ small_b)), info)
print("result diagonal", np.abs(np.diag(u)).sum())
