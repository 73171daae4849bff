"""psthreads.limit(): at most so many threads in each pool of the process, for a while."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._enable import is_enabled
from ._info import info

# What reads and sets a pool's number of threads, by threadpoolctl's internal_api. OpenBLAS has a name for each build.
FUNCTIONS = {
    "openblas": [(f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
                 for prefix in ("", "scipy_") for suffix in ("", "64_", "_64")],
    "mkl": [("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")],
    "blis": [("bli_thread_get_num_threads", "bli_thread_set_num_threads")],
    "openmp": [("omp_get_max_threads", "omp_set_num_threads")],
}
Pool = tuple[Any, Any]


def _functions(library: ctypes.CDLL, internal_api: str) -> Iterator[Pool]:
    for get, set_ in FUNCTIONS.get(internal_api, []):
        if hasattr(library, get) and hasattr(library, set_):
            yield getattr(library, get), getattr(library, set_)


def _pools() -> Iterator[Pool]:
    if is_enabled():
        yield from _functions(ctypes.CDLL(None), "openmp")
    for entry in info():
        api, path = str(entry["internal_api"]), str(entry["filepath"])
        if api in FUNCTIONS and not (api == "openmp" and entry["ours"] == "yes"):
            yield from _functions(ctypes.CDLL(path, mode=os.RTLD_NOLOAD), api)


@contextmanager
def limit(n: int) -> Iterator[None]:
    """At most n threads in each parallel call, in a block or, as a decorator, in a function:

        with psthreads.limit(1):
            ...

        @psthreads.limit(1)
        def f(): ...

    It counts for OpenMP regions that the calling thread opens, and for OpenBLAS, MKL and BLIS in the whole process, as
    far as they are loaded when the block begins. The numbers from before return when it ends. A number that is lower
    already stays.

    threadpoolctl goes on working, and sets the same numbers. The differences: its limits may raise a number too, it can
    choose among libraries, and it sets every copy of an OpenMP runtime that wheels bring, where this sets the one
    runtime that they all use. Neither is for several threads at a time: numbers of the whole process are left as the
    block that ends last leaves them.
    """
    if n < 1:
        raise ValueError(f"psthreads.limit({n}): wanted a number of threads from 1")
    before: list[tuple[Any, int]] = []
    try:
        for get, set_ in list(_pools()):
            before.append((set_, get()))
            set_(min(n, before[-1][1]))
        yield
    finally:
        for set_, threads in reversed(before):
            set_(threads)
