#!/usr/bin/python3
"""vectors_test.py COMPILER KERNELS.c OPTION... - GCC vectorises every loop of the kernels that is meant to be, for AVX2
too."""

import subprocess
import sys
from pathlib import Path

compiler, source, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
command = [compiler, *options, "-fopt-info-vec-optimized", "-c", source, "-o", "/dev/null"]
said = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
lines = source.read_text().splitlines()
loops = [number for number, line in enumerate(lines, 1) if "#pragma omp simd" in line]
if len(loops) < 8:
    raise SystemExit(f"{source}: only {len(loops)} loops are marked")
for loop in loops:
    for size in ("16 byte", "32 byte"):
        near = [f"{source}:{loop + k}:" for k in range(6)]  # the compiler names the loop or a place in its body
        if not any(line.startswith(tuple(near)) and f"vectorized using {size} vectors" in line for line in said):
            print("\n".join(said))
            raise SystemExit(f"{source}:{loop}: not vectorised with vectors of {size}s")
