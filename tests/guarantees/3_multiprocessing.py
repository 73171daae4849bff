"""Python's multiprocessing (start method fork) and subprocess after the parent has run regions; argv[1]: a library with
a region. "early": the parent runs none before, as GCC's own runtime needs it."""
import ctypes
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def region(n):
    return ctypes.CDLL(sys.argv[1]).library_region(n)


def main():
    early = len(sys.argv) > 2
    if not early:
        assert region(4) == 16
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(region, [2, 3, 4, 5])) == [4, 9, 16, 25]
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        assert pool.map(region, [1, 2, 3, 4, 5, 6]) == [1, 4, 9, 16, 25, 36]
    assert subprocess.run(["true"], check=False).returncode == 0
    assert region(3) == 9


if __name__ == "__main__":
    main()
