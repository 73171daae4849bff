#!/usr/bin/env python3
"""wheels_job.py NAME [enable] - one job over PyPI's wheels, started by wheels.py under psrun and without. With "enable"
it calls psthreads.enable() first. Prints its results as JSON: names, and numbers or texts. A job that would hang under
libgomp (regions in a forked child) stands in ONLY_OURS, and compares a child's results with its parent's."""

import atexit
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import psthreads

JOBS = {}
ONLY_OURS = set()


def job(function):
    JOBS[function.__name__] = function
    return function


def only_ours(function):
    ONLY_OURS.add(function.__name__)
    return job(function)


def table(rows=2000, columns=12):
    import numpy as np
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, columns))
    return x, x[:, 0] * x[:, 1] + np.sin(x[:, 2])


def means(seed):
    from sklearn.cluster import KMeans
    return float(KMeans(8, n_init=1, random_state=seed, max_iter=20).fit(table()[0]).inertia_)


def boost(seed):
    from sklearn.ensemble import HistGradientBoostingRegressor
    x, y = table()
    return float(HistGradientBoostingRegressor(max_iter=15, random_state=seed).fit(x, y).score(x, y))


def product(n, seed=1):
    """The sum of the elements' sizes of a product."""
    import numpy as np
    a = np.random.default_rng(seed).standard_normal((n, n))
    return float(np.abs(a @ a.T).sum())


def svd(n, seed=1):
    import numpy as np
    return float(np.linalg.svd(np.random.default_rng(seed).standard_normal((n, n)), compute_uv=False).sum())


def grid(backend, jobs):
    import joblib
    from sklearn.decomposition import PCA
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    x, y = table(800)
    search = GridSearchCV(make_pipeline(PCA(random_state=1), HistGradientBoostingRegressor(random_state=1)),
                          {"pca__n_components": [4, 8, 12], "histgradientboostingregressor__max_iter": [5, 10]}, cv=2)
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        search.fit(x, y)
    return {"best": search.best_score_, "scores": [float(s) for s in search.cv_results_["mean_test_score"]]}


@job
def grid_search_threads():
    return grid("threading", 4)


@job
def grid_search_processes():
    found = grid("loky", 2)
    from joblib.externals.loky import get_reusable_executor
    get_reusable_executor().shutdown(wait=True)
    return found


@job
def gradient_boosting_in_a_pool():
    with ThreadPoolExecutor(4) as pool:
        return {"scores": list(pool.map(boost, range(6))), "means": list(pool.map(means, range(6)))}


@job
def lightgbm():
    import lightgbm as lgb
    import numpy as np
    x, y = table(5000)

    def trees(seed):
        options = {"objective": "l2", "verbose": -1, "seed": seed, "deterministic": True, "force_row_wise": True}
        return float(np.abs(lgb.train(options, lgb.Dataset(x, y), 20).predict(x)).sum())
    with ThreadPoolExecutor(3) as pool:
        return {"alone": trees(0), "pool": list(pool.map(trees, range(4)))}


@job
def xgboost():
    import numpy as np
    import xgboost as xgb
    x, y = table(5000)

    def trees(seed):
        model = xgb.train({"seed": seed, "tree_method": "hist"}, xgb.DMatrix(x, y), 15)
        return float(np.abs(model.predict(xgb.DMatrix(x))).sum())
    with ThreadPoolExecutor(3) as pool:
        return {"alone": trees(0), "pool": list(pool.map(trees, range(4)))}


def prange(layer):
    os.environ["NUMBA_THREADING_LAYER"] = layer
    import numba
    import numpy as np

    @numba.njit(parallel=True)
    def norm(a):
        total = 0.0
        for i in numba.prange(a.shape[0]):
            total += a[i] * a[i]
        return total
    a = np.arange(100000, dtype=np.float64) % 1009
    found = {"alone": sum(norm(a) for _ in range(100)), "layer": numba.threading_layer()}
    if layer != "workqueue":  # which ends the process where two threads use it
        with ThreadPoolExecutor(4) as pool:
            found["pool"] = list(pool.map(lambda _: norm(a), range(40)))
    return found


@job
def numba_omp():
    return prange("omp")


@job
def numba_workqueue():
    return prange("workqueue")


@job
def numba_tbb():
    return prange("tbb")


@job
def scipy_fft_workers():
    import numpy as np
    import scipy.fft
    a = np.random.default_rng(1).standard_normal((64, 128, 32))
    with ThreadPoolExecutor(3) as pool:
        return {"sums": list(pool.map(lambda k: float(np.abs(scipy.fft.fftn(a + k, workers=4)).sum()), range(6)))}


@job
def pyfftw_threads():
    import numpy as np
    import pyfftw
    plans = []
    for k in range(4):
        a = pyfftw.empty_aligned((64, 64, 64), dtype="complex128")
        plan = pyfftw.FFTW(a, pyfftw.empty_aligned(a.shape, dtype="complex128"), axes=(0, 1, 2), threads=4,
                           flags=("FFTW_ESTIMATE",))
        a[:] = np.random.default_rng(k).standard_normal(a.shape)
        plans.append(plan)
    with ThreadPoolExecutor(4) as pool:
        return {"sums": [[float(np.abs(out).sum()) for out in pool.map(lambda plan: plan().copy(), plans)]
                         for _ in range(3)]}


@job
def faiss():
    import faiss as fa
    import numpy as np
    rng = np.random.default_rng(9)
    base, query = rng.random((4000, 64), dtype=np.float32), rng.random((200, 64), dtype=np.float32)
    flat = fa.IndexFlatL2(64)
    flat.add(base)
    cells = fa.index_factory(64, "IVF32,SQ8")
    cells.train(base)
    cells.add(base)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: flat.search(query, 10), range(3)))
    return {"flat": [[int(i.sum()), float(d.sum())] for d, i in found], "cells": float(cells.search(query, 5)[0].sum())}


@job
def products_in_a_pool():
    with ThreadPoolExecutor(4) as pool:
        return {f"of {n}": list(pool.map(lambda seed, n=n: product(n, seed), range(40))) for n in (16, 120, 300)}


@job
def decompositions_in_a_pool():
    import numpy as np
    import scipy.linalg

    def solve(n):
        rng = np.random.default_rng(n)
        a = rng.standard_normal((n, n)) + n * np.eye(n)
        return [float(scipy.linalg.solve(a, a[0]).sum()), float(np.linalg.eigvalsh(a @ a.T).sum()),
                float(np.abs(scipy.linalg.lu_factor(a)[0]).sum()), float(np.linalg.lstsq(a, a[1])[0].sum())]
    with ThreadPoolExecutor(2) as pool:
        return {"svd": list(pool.map(svd, (200, 300, 400, 200))), "solve": list(pool.map(solve, (100, 200, 300, 400)))}


@job
def large_beside_small():
    with ThreadPoolExecutor(4) as pool:
        large = pool.submit(product, 1200)
        small = list(pool.map(lambda seed: product(60, seed), range(200)))
        return {"large": large.result(), "small": small, "chain": [product(700) for _ in range(4)]}


@job
def forked_pool():
    """The default start method of Python up to 3.13."""
    before = [product(300), svd(200)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        return {"before": before, "products": list(pool.map(product, (120, 300, 500, 120))),
                "svd": list(pool.map(svd, (100, 200))), "after": product(300)}


@job
def spawned_pool():
    before = product(300)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        return {"before": before, "products": list(pool.map(product, (120, 300, 500, 120)))}


def in_child(call, *arguments):
    """call's result in a forked child that does not end as Python ends."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(call(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "the child has ended without a result"


@job
def fork_of_a_thread():
    """No other thread multiplies meanwhile: a child would inherit OpenBLAS's locks, taken, under any runtime."""
    with ThreadPoolExecutor(3) as pool:
        before = list(pool.map(product, (300, 300, 300)))
        return {"before": before, "children": list(pool.map(lambda n: in_child(product, n), (120, 300, 300)))}


@only_ours
def forked_children_with_openmp():
    here = means(0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(means, (0, 0, 0)))
    return {"same": all(abs(one / here - 1) < 1e-9 for one in (*found, in_child(means, 0)))}


@job
def threadpoolctl_limits():
    import numpy as np
    import sklearn.cluster
    from threadpoolctl import threadpool_info, threadpool_limits
    assert np and sklearn.cluster

    def threads():
        return sorted({(pool["user_api"], pool["num_threads"]) for pool in threadpool_info()})
    found = {"before": threads()}
    with threadpool_limits(1):
        found["limited"] = threads()
        with ThreadPoolExecutor(3) as pool:
            found["products"] = list(pool.map(product, (120, 300, 300)))
    with threadpool_limits(1, user_api="blas"):
        found["blas"] = threads()
    with threadpool_limits(5, user_api="blas"):
        found["five"] = [entry["num_threads"] >= 1 for entry in threadpool_info() if entry["user_api"] == "blas"]
        found["product"] = product(300)
    found["after"] = threads()
    return found


def stop_trackers():
    """The helper processes of multiprocessing and of loky end by themselves, but a while behind this one."""
    for name, module in list(sys.modules.items()):
        if name.endswith(".resource_tracker") and hasattr(module, "_resource_tracker"):
            module._resource_tracker._stop()


if __name__ == "__main__":
    atexit.register(stop_trackers)  # the first one registered runs last
    if sys.argv[2:] == ["enable"]:
        psthreads.enable()
    print(json.dumps({name: name in ONLY_OURS for name in JOBS} if sys.argv[1] == "--list" else JOBS[sys.argv[1]]()))
