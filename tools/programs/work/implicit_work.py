"""implicit: recommendations by alternating least squares, and by neighbours."""

import time

import numpy as np
import scipy.sparse as sparse
from implicit.als import AlternatingLeastSquares
from implicit.nearest_neighbours import CosineRecommender

rng = np.random.default_rng(2)
data = sparse.csr_matrix((rng.integers(1, 6, 120000).astype(np.float32),
                          (rng.integers(0, 4000, 120000), rng.integers(0, 2000, 120000))), shape=(4000, 2000))
start = time.perf_counter()
model = AlternatingLeastSquares(32, iterations=8, random_state=1, num_threads=2)
model.fit(data, show_progress=False)
items, scores = model.recommend(np.arange(200), data[:200])
near = CosineRecommender(K=20, num_threads=2)
near.fit(data, show_progress=False)
print("time", time.perf_counter() - start)
print("result factors", round(float(np.abs(model.item_factors).sum(dtype=np.float64)), 1))
print("result recommended", round(float(scores.sum(dtype=np.float64)), 2))
print("result near", round(float(near.similarity.sum()), 4))
