"""Where the runtime is: psrun, and the libraries beside it."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Optional

PACKAGE = Path(__file__).resolve().parent
PLACES = ("lib", "lib/psthreads")  # a build folder's, an installed tree's


class Runtime(NamedTuple):
    """The files that belong together."""

    psrun: Path
    libgomp: Path
    pools: Path


def _complete(home: Path) -> Optional[Runtime]:
    """The runtime in this folder, which is a build folder or what it was installed into; None: there is none."""
    psrun = home / "bin" / "psrun"
    for place in PLACES:
        found = Runtime(psrun, home / place / "dropin" / "libgomp.so.1",
                        home / place / "pools" / "libpsthreads-pools.so")
        if os.access(psrun, os.X_OK) and found.libgomp.exists() and found.pools.exists():
            return found
    return None


def _homes() -> Iterator[tuple[str, Path]]:
    """What is tried, in order, and how to name it."""
    yield "the package", PACKAGE / "_runtime"
    if (PACKAGE.parents[1] / "CMakeLists.txt").exists():
        yield "the source tree", PACKAGE.parents[1] / "build"
    on_path = shutil.which("psrun")
    if on_path:
        yield "PATH", Path(on_path).resolve().parents[1]


def runtime() -> Runtime:
    """The first runtime of: PSTHREADS_HOME, the package, the source tree's build folder, psrun on PATH."""
    given = os.environ.get("PSTHREADS_HOME")
    if given:
        found = _complete(Path(given).absolute())
        if found:
            return found
        print(f"psthreads: PSTHREADS_HOME={given}: there is no bin/psrun with its libraries; the runtime is looked for "
              "elsewhere", file=sys.stderr)
    tried = []
    for name, home in _homes():
        found = _complete(home)
        if found:
            return found
        tried.append(f"{name} ({home})")
    raise RuntimeError(f"no runtime in {', '.join(tried)}, nor a psrun on PATH: build it (`make` in the source tree), "
                       "or set PSTHREADS_HOME to the folder that has bin/psrun")
