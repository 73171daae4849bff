"""scikit-learn: what of it runs in OpenMP loops (k-means, histogram boosting, distances, t-SNE's gradient)."""

import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.manifold import TSNE
from sklearn.metrics import pairwise_distances_argmin_min

points, _ = make_blobs(20000, 16, centers=20, random_state=3)
x, y = make_classification(15000, 20, n_informative=8, random_state=3)
start = time.perf_counter()
means = KMeans(20, n_init=1, max_iter=40, random_state=0).fit(points)
boost = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(x, y)
nearest, distance = pairwise_distances_argmin_min(points[:8000], points[8000:16000])
flat = TSNE(n_iter_without_progress=50, max_iter=260, random_state=0, init="pca").fit_transform(points[:600])
print("time", time.perf_counter() - start)
print("result inertia", means.inertia_)
print("result boost", boost.score(x, y), boost.predict_proba(x[:2000]).sum(axis=0)[0])
print("result nearest", int(nearest.sum()), distance.sum())
print("result tsne_finite", int(np.isfinite(flat).all()), flat.shape[0])
