"""joblib's processes (loky, then multiprocessing's fork) and a bare fork, after OpenMP was used in the parent; each
child uses it again. With --no-fork only what kernel threads outlive: libgomp hangs in forked children."""

import os
import sys
import time

import joblib
import numpy as np
from sklearn.cluster import KMeans

rng = np.random.default_rng(1)
x = rng.standard_normal((5000, 8))


def means(seed):
    return KMeans(8, n_init=1, random_state=seed, max_iter=20).fit(x).inertia_


if __name__ == "__main__":
    start = time.perf_counter()
    print("result here", means(0))
    print("result loky", sum(joblib.Parallel(n_jobs=2)(joblib.delayed(means)(i) for i in range(4))))
    print("result threads",
          sum(joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(means)(i) for i in range(4))))
    if "--no-fork" not in sys.argv:
        print("result fork",
              sum(joblib.Parallel(n_jobs=2, backend="multiprocessing")(joblib.delayed(means)(i) for i in range(4))))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(means(0)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        print("result bare_fork", float(os.read(read, 100)))
    print("result again", means(0))
    print("time", time.perf_counter() - start)
