"""python-graphblas on SuiteSparse:GraphBLAS: products of sparse matrices, a search through a graph, triangles."""

import time

import graphblas as gb
import numpy as np

gb.init("suitesparse", blocking=True)
gb.ss.config["nthreads"] = 2
gb.ss.config["chunk"] = 512
rng = np.random.default_rng(6)
n, edges = 5000, 50000
rows, columns = rng.integers(0, n, edges), rng.integers(0, n, edges)
a = gb.Matrix.from_coo(rows, columns, rng.integers(1, 9, edges), nrows=n, ncols=n, dup_op=gb.binary.plus)
start = time.perf_counter()
square = gb.semiring.plus_times(a @ a).new()
one = gb.Matrix.from_coo(np.r_[rows, columns], np.r_[columns, rows], 1, nrows=n, ncols=n)
lower = gb.select.tril(one, -1).new()
triangles = gb.Matrix(int, n, n)
triangles(lower.S) << gb.semiring.plus_pair(lower @ lower.T)
level = gb.Vector(int, n)
front = gb.Vector.from_coo([0], [True], size=n)
depth = 0
while front.nvals:
    level(front.S) << depth
    front(~level.S, replace=True) << gb.semiring.any_pair(one.T @ front)
    depth += 1
rank = gb.Vector.from_scalar(1.0 / n, n, dtype=float)
for _ in range(20):
    rank << gb.semiring.plus_second(one @ (rank / 20.0).new())
print("time", time.perf_counter() - start)
print("result square", square.nvals, square.reduce_scalar().new().value)
print("result triangles", triangles.reduce_scalar().new().value)
print("result levels", depth, level.reduce().new().value)
print("result rank", rank.reduce().new().value)
