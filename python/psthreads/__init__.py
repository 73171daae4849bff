"""psthreads: OpenMP regions and the thread pools of NumPy's and SciPy's libraries on one set of workers.

    python -m psthreads script.py     runs a script on the runtime
    psthreads.enable()                the same from within, before the first import of a library that computes
    psthreads.info()                  the thread pools of this process, and which are on the runtime
    with psthreads.limit(n):          at most n threads in each of them

docs/python.md in the source tree is the manual.
"""

from ._enable import enable, is_enabled
from ._info import info
from ._limit import limit

__version__ = "0.1.0"
__all__ = ["enable", "info", "is_enabled", "limit"]
