"""Python thread pools over scikit-learn and LightGBM: several trainings at a time, each with loops of its own."""

import time
from concurrent.futures import ThreadPoolExecutor

import lightgbm
import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

rng = np.random.default_rng(1)
x = rng.standard_normal((6000, 12))
y = x[:, 0] * x[:, 1] + np.sin(x[:, 2])


def boost(seed):
    return HistGradientBoostingRegressor(max_iter=15, random_state=seed).fit(x, y).score(x, y)


def means(seed):
    return KMeans(8, n_init=1, random_state=seed, max_iter=30).fit(x).inertia_


def trees(seed):
    options = {"objective": "l2", "verbose": -1, "seed": seed, "deterministic": True, "force_row_wise": True,
               "num_leaves": 15}
    return float(np.abs(lightgbm.train(options, lightgbm.Dataset(x, y), 15).predict(x)).sum())


start = time.perf_counter()
for name, call in ("boost", boost), ("means", means), ("trees", trees):
    with ThreadPoolExecutor(4) as pool:
        print("result", name, sum(pool.map(call, range(8))))
with ThreadPoolExecutor(6) as pool:
    print("result together",
          sum(f.result() for f in [pool.submit(call, 1) for call in (boost, means, trees) for _ in range(3)]))
print("time", time.perf_counter() - start)
