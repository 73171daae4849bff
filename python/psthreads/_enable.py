"""psthreads.enable(): the runtime in a process that was started without psrun."""

import ctypes
import os
import re

from ._find import runtime

# Runtimes of OpenMP by the names of their files, also with what wheels append to them.
OPENMP = re.compile(r"lib(?:gomp|omp|iomp5)(?=[-.])")


def mapped_files() -> list[str]:
    """The files that this process has mapped, in the order of their addresses."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        fields = [line.rstrip("\n").split(maxsplit=5) for line in maps]
    return list(dict.fromkeys(line[5] for line in fields if len(line) == 6 and line[5].startswith("/")))


def is_enabled() -> bool:
    """Whether this process has the runtime where libraries that are loaded later find it."""
    return hasattr(ctypes.CDLL(None), "ort_layer")


def enable() -> bool:
    """Loads the runtime into this process, for the libraries that are imported from now on.

    Call it before the first import of a library that computes with threads (numpy, scipy, sklearn, lightgbm, torch).
    True: the runtime was loaded now. False: the process had it already, by psrun or by an earlier call, and nothing
    was done. Raises RuntimeError where it is too late, since another OpenMP runtime is loaded, or where there is no
    runtime to load.

    psrun gives more, since it replaces functions of the C library, which Python has bound already. Without it a thread
    of a region that waits in `sched_yield`, `nanosleep` or `read` keeps its processor for some milliseconds, before
    another takes its place. Members of a region have the name, the number (`gettid`), the affinity and the priority of
    the worker that carries them. Processes that this one starts do not have the runtime, except by fork.
    """
    if is_enabled():
        return False
    for path in mapped_files():
        if OPENMP.match(os.path.basename(path)):
            raise RuntimeError(f"psthreads.enable() is too late: {path} is loaded already; call it before the first "
                               "import of a library that computes, or run `python -m psthreads script.py`")
    found = runtime()
    # In the global scope ours is found before the copy that a wheel brings: that one stands in the local scope.
    ctypes.CDLL(str(found.libgomp), mode=ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(found.pools), mode=ctypes.RTLD_GLOBAL).psthreads_pools_begin()
    return True
