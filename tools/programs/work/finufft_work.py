"""finufft: Fourier transforms of points that are not on a grid, there and back, in one to three dimensions."""

import time

import finufft
import numpy as np

rng = np.random.default_rng(8)
n = 100000
x, y, z = (rng.uniform(-np.pi, np.pi, n) for _ in range(3))
c = rng.standard_normal(n) + 1j * rng.standard_normal(n)
start = time.perf_counter()
one = finufft.nufft1d1(x, c, 50000, eps=1e-9, nthreads=2)
two = finufft.nufft2d1(x, y, c, (200, 200), eps=1e-9, nthreads=2)
back = finufft.nufft2d2(x, y, two, eps=1e-9, nthreads=2)
three = finufft.nufft3d1(x, y, z, c, (40, 40, 40), eps=1e-6, nthreads=2)
print("time", time.perf_counter() - start)
for name, a in (("one", one), ("two", two), ("back", back), ("three", three)):
    print("result", name, np.abs(a).sum())
