"""LightGBM: training and prediction."""

import time

import lightgbm
import numpy as np

rng = np.random.default_rng(5)
x = rng.standard_normal((20000, 25))
y = (x[:, 0] * x[:, 1] + np.sin(x[:, 2] * 3) + 0.1 * rng.standard_normal(20000) > 0).astype(int)
options = {"objective": "binary", "num_leaves": 63, "deterministic": True, "force_row_wise": True, "verbose": -1,
           "seed": 1}
start = time.perf_counter()
model = lightgbm.train(options, lightgbm.Dataset(x, y), 40)
p = model.predict(x)
print("time", time.perf_counter() - start)
print("result loss", -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))
print("result sum", p.sum())
