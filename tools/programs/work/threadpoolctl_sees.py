"""threadpoolctl lists the OpenMP runtimes of a process, and sets their number of threads; with one argument, the file
that must do the work."""

import sys
from pathlib import Path

import sklearn.cluster
import threadpoolctl

assert sklearn.cluster.KMeans
found = [r for r in threadpoolctl.threadpool_info() if r["user_api"] == "openmp"]
for r in found:
    print("sees", r["prefix"], r["internal_api"], r["num_threads"], r["filepath"])
if len(sys.argv) > 1:
    ours = [r for r in found if Path(r["filepath"]).resolve() == Path(sys.argv[1]).resolve()]
    print("result sees_ours", len(ours))
with threadpoolctl.threadpool_limits(1, user_api="openmp"):
    print("result limited",
          int(all(r["num_threads"] == 1 for r in threadpoolctl.threadpool_info() if r["user_api"] == "openmp")))
print("result back",
      int(any(r["num_threads"] > 1 for r in threadpoolctl.threadpool_info() if r["user_api"] == "openmp")))
