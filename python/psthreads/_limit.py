"""psthreads.limit(): at most so many threads in each pool of the process, for a while."""

import ctypes
import os
import threading
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

_lock = threading.Lock()  # of what follows
_active: list[int] = []  # the limits of the blocks that threads are in
_before: dict[str, tuple[Any, int]] = {}  # by file: what sets its number, and the number without them


def _functions(library: ctypes.CDLL, internal_api: str) -> Iterator[Pool]:
    for get, set_ in FUNCTIONS.get(internal_api, []):
        if hasattr(library, get) and hasattr(library, set_):
            yield getattr(library, get), getattr(library, set_)


def _openmp() -> Iterator[Pool]:
    """The runtimes that the calling thread may use: psthreads, or each that a library has brought."""
    if is_enabled():
        yield from _functions(ctypes.CDLL(None), "openmp")
    for entry in info():
        if entry["internal_api"] == "openmp" and entry["ours"] != "yes":
            yield from _functions(ctypes.CDLL(str(entry["filepath"]), mode=os.RTLD_NOLOAD), "openmp")


def _begin(n: int) -> None:
    for entry in info():
        api, path = str(entry["internal_api"]), str(entry["filepath"])
        if api != "openmp" and api in FUNCTIONS and path not in _before:
            for get, set_ in _functions(ctypes.CDLL(path, mode=os.RTLD_NOLOAD), api):
                _before[path] = set_, get()
    _active.append(n)
    _apply()


def _end(n: int) -> None:
    _active.remove(n)
    _apply()
    if not _active:
        _before.clear()


def _apply() -> None:
    for set_, threads in _before.values():
        set_(min([threads, *_active]))


@contextmanager
def limit(n: int) -> Iterator[None]:
    """At most n threads in each parallel call, in a block or, as a decorator, in a function:

        with psthreads.limit(1):
            ...

        @psthreads.limit(1)
        def f(): ...

    It counts for OpenMP regions that the calling thread opens, and for OpenBLAS, MKL and BLIS in the whole process, as
    far as they are loaded when the block begins. Where several threads are in such blocks the lowest number counts, and
    the numbers from before return when the last block ends. A number that is lower already stays.

    threadpoolctl goes on working, and sets the same numbers. The differences: its limits may raise a number too, it can
    choose among libraries, and it sets every copy of an OpenMP runtime that wheels bring, where this sets the one
    runtime that they all use. Its blocks are not for several threads at a time: each restores what it has found.
    """
    if n < 1:
        raise ValueError(f"psthreads.limit({n}): wanted a number of threads from 1")
    openmp = [(set_, get()) for get, set_ in _openmp()]
    with _lock:
        _begin(n)
    try:
        for set_, threads in openmp:
            set_(min(n, threads))
        yield
    finally:
        for set_, threads in openmp:
            set_(threads)
        with _lock:
            _end(n)
