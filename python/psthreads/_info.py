"""psthreads.info(): the thread pools of this process."""

import ctypes
import json
import os
import sys
import tempfile
from importlib import import_module
from typing import Union

from ._find import runtime

Entry = dict[str, Union[str, int, None]]
CENSUS = "psthreads_pools_census"
# As src/pools/census.c writes them, with tabs between.
FIELDS = ("user_api", "internal_api", "prefix", "filepath", "version", "threading_layer", "architecture", "num_threads",
          "ours", "advice")

def _library() -> ctypes.CDLL:
    """The library that counts: the one that psrun or enable() has loaded, else one of this call's."""
    process = ctypes.CDLL(None)
    return process if hasattr(process, CENSUS) else ctypes.CDLL(str(runtime().pools))


def parse(text: str) -> list[Entry]:
    """The census's lines as dicts; an empty field is None."""
    entries = []
    for line in text.splitlines():
        entry: Entry = dict(zip(FIELDS, line.split("\t")))
        for name, value in list(entry.items()):
            entry[name] = None if value == "" else int(str(value)) if name == "num_threads" else value
        entries.append(entry)
    return entries


def info() -> list[Entry]:
    """The thread pools of this process, a dict for each, as threadpoolctl.threadpool_info() has them: user_api,
    internal_api, prefix, filepath, version, num_threads, and for BLAS threading_layer and architecture.

    Beyond that: "ours" is "yes" where the pool's parallel calls run on the runtime, "no", or "could be"; "advice" says
    then what to do, or why not. Also in a process without the runtime.
    """
    with tempfile.TemporaryFile() as file:
        error = getattr(_library(), CENSUS)(file.fileno())
        if error:
            raise OSError(error, f"psthreads.info(): {os.strerror(error)}")
        file.seek(0)
        return parse(file.read().decode(errors="surrogateescape"))


def show(modules: list[str]) -> None:
    """python -m psthreads info: imports the modules, and prints the pools as JSON."""
    for name in modules:
        try:
            import_module(name)
        except ImportError as error:
            sys.exit(f"psthreads: info: {name}: {error}")
    print(json.dumps(info(), indent=2))
