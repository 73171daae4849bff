#!/usr/bin/python3
"""One job of a Python program that computes, in a process of its own; python_jobs.py runs it in several ways.

python_job.py JOB [--limit] [--seconds 0.5]
python_job.py --list

The job runs once to warm up, then again until the seconds are used. Prints a line of JSON: the seconds and the
processor's seconds of each run (of child processes too), a number that all ways must agree on, and whether psthreads
and its library for pools are in the process. --limit: threadpoolctl's limit of one thread is in force while a pool of
threads works, which is what scikit-learn's documentation advises. A job without such a pool has no such form."""

import argparse
import contextlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PROCESSORS = len(os.sched_getaffinity(0))
TICK = os.sysconf("SC_CLK_TCK")


def library_threads():
    """As many threads as a program asks a library for by an argument: the user's number, else all processors."""
    return int(os.environ.get("OMP_NUM_THREADS", PROCESSORS))


class Limit:
    """A limit of one thread a library, or none. OpenBLAS's number is the process's: it holds while the pool works.
    OpenMP's and Numba's numbers are a thread's: each thread of the pool sets them once."""

    def __init__(self, wanted):
        self.wanted, self.controller = wanted, None

    def __call__(self):
        if not self.wanted:
            return contextlib.nullcontext()
        if not self.controller:
            import threadpoolctl
            self.controller = threadpoolctl.ThreadpoolController()  # after the imports: it looks at what is loaded
        return self.controller.limit(limits=1)

    def in_thread(self):
        if not self.wanted:
            return
        self.controller.limit(limits=1, user_api="openmp")
        if "numba" in sys.modules:
            sys.modules["numba"].set_num_threads(1)

    def threads(self):
        return 1 if self.wanted else library_threads()


class Pool:
    """A pool of threads that lives as long as the job."""

    def __init__(self, threads, limit):
        self.limit = limit
        self.executor = ThreadPoolExecutor(threads, initializer=limit.in_thread)

    def map(self, task, items):
        with self.limit():
            return list(self.executor.map(task, items))


def matrices(num, rows, columns=None):
    rng = np.random.default_rng(1)
    return [rng.standard_normal((rows, columns or rows)) for _ in range(num)]


# --- products ---

SMALL, MANY = 120, 5  # a matrix's size; products that a task of the pool makes


def small_task(m):
    def task(i):
        return sum(float((m[(i + k) % 8] @ m[(i + k + 1) % 8])[0, 0]) for k in range(MANY))
    return task


def small(limit, tasks=300):
    pool, task = Pool(4, limit), small_task(matrices(8, SMALL))
    return lambda: sum(pool.map(task, range(tasks)))


def uneven(limit, large_at, tasks=100):
    pool, task, (x, y) = Pool(4, limit), small_task(matrices(8, SMALL)), matrices(2, 1600)
    order = list(range(tasks))
    order.insert(large_at % (tasks + 1), None)

    def one(i):
        return float((x @ y)[0, 0]) if i is None else task(i)
    return lambda: sum(pool.map(one, order))


def chain(limit):
    pool, task, (x, y) = Pool(4, limit), small_task(matrices(8, SMALL)), matrices(2, 900)

    def run():
        total = sum(pool.map(task, range(50)))
        z = x
        for _ in range(6):
            z = z @ y
            z /= np.abs(z).max()
        return total + float(z[0, 0])
    return run


def product(limit):
    x, y = matrices(2, 1200)
    return lambda: float((x @ y)[0, 0])


# --- linear algebra ---

def svd_pool(limit):
    pool, all_sizes = Pool(2, limit), {n: matrices(1, n)[0] for n in (200, 300, 400, 500, 600)}
    return lambda: sum(pool.map(lambda n: float(np.linalg.svd(all_sizes[n])[1].sum()), all_sizes))


def svd(limit):
    m, = matrices(1, 500)
    return lambda: float(np.linalg.svd(m)[1].sum())


def eigh(limit):
    m, = matrices(1, 600)
    m = m + m.T
    return lambda: float(np.abs(np.linalg.eigh(m)[0]).sum())


def solve(limit):
    """SciPy has an OpenBLAS of its own."""
    import scipy.linalg
    m, = matrices(1, 1500)
    right = m.sum(axis=1)
    return lambda: float(np.abs(scipy.linalg.solve(m, right)).sum())


def pca_pool(limit):
    from sklearn.decomposition import PCA
    pool, data = Pool(4, limit), matrices(4, 3000, 300)

    def fit(i):
        return float(PCA(20).fit(data[i % 4]).singular_values_.sum())
    return lambda: sum(pool.map(fit, range(8)))


# --- scikit-learn ---

def grid(limit, estimator, parameters, data, labels=None):
    """joblib starts the threads: the limit is set within each fit."""
    import joblib
    from sklearn.model_selection import GridSearchCV

    class Limited(estimator):
        def fit(self, *arguments, **more):
            with limit():
                return super().fit(*arguments, **more)

    made = (Limited if limit.wanted else estimator)(random_state=1, **parameters.pop("always"))

    def run():
        with limit(), joblib.parallel_config("threading", n_jobs=4):
            search = GridSearchCV(made, parameters, cv=2).fit(data, labels)
        return float(np.sum(search.cv_results_["mean_test_score"]))
    return run


def grid_kmeans(limit):
    from sklearn.cluster import KMeans
    return grid(limit, KMeans, {"always": {"n_init": 2, "max_iter": 30}, "n_clusters": [4, 8, 12, 16]},
                matrices(1, 6000, 16)[0])


def grid_boosting(limit):
    from sklearn.ensemble import HistGradientBoostingClassifier
    data, = matrices(1, 6000, 10)
    return grid(limit, HistGradientBoostingClassifier,
                {"always": {"max_iter": 10, "early_stopping": False}, "max_leaf_nodes": [7, 15, 31, 63]}, data,
                (data[:, 0] + data[:, 1] ** 2 > 0.5).astype(int))


# --- Fourier transforms ---

def scipy_fft(limit):
    import scipy.fft
    pool, data = Pool(4, limit), [m + 0j for m in matrices(4, 512)]

    def task(i):
        return float(np.abs(scipy.fft.fft2(data[i % 4], workers=limit.threads())[3, 4]))
    return lambda: sum(pool.map(task, range(24)))


def pyfftw(limit):
    """A plan keeps its number of threads. PyPI's pyFFTW has FFTW's OpenMP build."""
    import pyfftw as fftw
    plans = []  # one at a time is used by one thread
    for m in matrices(8, 512):
        a = fftw.empty_aligned(m.shape, "complex128")
        a[:] = m
        plans.append(fftw.FFTW(a, fftw.empty_aligned(m.shape, "complex128"), axes=(0, 1), threads=library_threads(),
                               flags=("FFTW_ESTIMATE",)))
    pool = Pool(4, limit)
    return lambda: sum(pool.map(lambda plan: sum(float(np.abs(plan()[3, 4])) for _ in range(4)), plans))


# --- others ---

def numba(limit):
    """Numba's OpenMP layer: the one that its wheel has and that several threads may use."""
    os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")
    import numba as nb

    @nb.njit(parallel=True, cache=True, nogil=True)
    def kernel(x):
        out = np.empty_like(x)
        for i in nb.prange(len(x)):
            s = 0.0
            for k in range(40):
                s += np.sin(x[i] + k)
            out[i] = s
        return out
    data = np.linspace(0, 1, 20000)
    pool = Pool(4, limit)
    return lambda: sum(float(out.sum()) for out in pool.map(lambda i: kernel(data + i), range(32)))


def loky_task(n):
    x, y = matrices(2, n)
    return float((x @ y)[0, 0])


def loky(limit):
    """Processes: joblib gives each as many threads a library as there are processors for it."""
    from joblib import Parallel, delayed
    parallel = Parallel(n_jobs=4, backend="loky")
    return lambda: sum(parallel(delayed(loky_task)(400) for _ in range(24)))


JOBS = {
    "small": small, "small-few": lambda limit: small(limit, 40), "svd-pool": svd_pool,
    "large-first": lambda limit: uneven(limit, 0), "large-last": lambda limit: uneven(limit, -1), "chain": chain,
    "product": product, "svd": svd, "eigh": eigh, "solve": solve, "pca-pool": pca_pool, "grid-kmeans": grid_kmeans,
    "grid-boosting": grid_boosting, "scipy-fft": scipy_fft, "pyfftw": pyfftw, "numba": numba, "loky": loky,
}
UNLIMITED = ("product", "svd", "eigh", "solve", "loky")


def children(pid):
    """Of the process, and theirs."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                yield (int(fields[11]) + int(fields[12])) / TICK
                yield from children(int(folder.name))


def processor_seconds(whole):
    return time.process_time() + (sum(children(os.getpid())) if whole else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=JOBS, nargs="?")
    parser.add_argument("--limit", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.5, help="time after which no run begins (default: 0.5)")
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    if a.list or not a.job:
        print("\n".join(JOBS))
        return
    if a.limit and a.job in UNLIMITED:
        parser.error(f"--limit: {a.job} has no pool of threads")
    run = JOBS[a.job](Limit(a.limit))
    result, seconds, processor, begin = run(), [], [], time.perf_counter()
    while not seconds or time.perf_counter() - begin < a.seconds:
        before, start = processor_seconds(a.job == "loky"), time.perf_counter()
        again = run()
        seconds.append(time.perf_counter() - start)
        processor.append(processor_seconds(a.job == "loky") - before)
        if not abs(again - result) <= 1e-6 * abs(result):
            sys.exit(f"{a.job}: {again} after {result}")
    maps = Path("/proc/self/maps").read_text()
    print(json.dumps({"job": a.job, "seconds": seconds, "processor": processor, "result": result,
                      "runtime": "/dropin/" in maps, "pools": "libpsthreads-pools" in maps}), flush=True)


if __name__ == "__main__":
    main()
