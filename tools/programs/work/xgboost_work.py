"""XGBoost: histogram trees, and prediction."""

import time

import numpy as np
import xgboost

rng = np.random.default_rng(5)
x = rng.standard_normal((20000, 25)).astype(np.float32)
y = (x[:, 0] * x[:, 1] + np.sin(x[:, 2] * 3) + 0.1 * rng.standard_normal(20000) > 0).astype(int)
start = time.perf_counter()
model = xgboost.train({"objective": "binary:logistic", "max_depth": 7, "tree_method": "hist", "seed": 1},
                      xgboost.DMatrix(x, y), 40)
p = model.predict(xgboost.DMatrix(x)).astype(np.float64)
print("time", time.perf_counter() - start)
print("result loss", -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))
print("result sum", p.sum())
