"""faiss: an exact search, an inverted file (k-means inside), and a graph."""

import time

import faiss
import numpy as np

rng = np.random.default_rng(9)
base = rng.random((8000, 64), dtype=np.float32)
query = rng.random((500, 64), dtype=np.float32)
start = time.perf_counter()
flat = faiss.IndexFlatL2(64)
flat.add(base)
d_flat, i_flat = flat.search(query, 10)
ivf = faiss.index_factory(64, "IVF32,SQ8")
ivf.train(base[:4000])
ivf.add(base)
ivf.nprobe = 8
d_ivf, i_ivf = ivf.search(query, 10)
graph = faiss.IndexHNSWFlat(64, 16)
graph.add(base[:1500])
d_graph, _ = graph.search(query, 5)
print("time", time.perf_counter() - start)
print("result threads_more_than_one", int(faiss.omp_get_max_threads() > 1))
print("result flat", int(i_flat.sum()), d_flat.sum(dtype=np.float64))
print("result ivf", d_ivf.sum(dtype=np.float64))
print("result graph_near", round(float(d_graph.mean()), 2))
