#!/usr/bin/python3
"""hpp_standard_test.py COMPILER INCLUDE - psthread.hpp in a program of an older C++: one error, which names the option
that is missing, and the end of the compilation."""

import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """#include <psthread.hpp>
psthreads::mutex mutex;
int main() { return psthreads::async([] { return 0; }).get(); }
"""


def main():
    compiler, include = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.cc"
        source.write_text(PROGRAM, encoding="utf-8")
        for standard, errors in (("c++11", 1), ("gnu++17", 1), ("c++20", 0)):
            done = subprocess.run([compiler, f"-std={standard}", "-I", include, "-fsyntax-only", source],
                                  capture_output=True, text=True)
            said = [line for line in done.stderr.splitlines() if " error: " in line and "fatal error" not in line]
            names_it = all("-std=c++20" in line for line in said)
            if len(said) != errors or not names_it or (done.returncode == 0) == errors:
                print(f"-std={standard}: exit status {done.returncode}:\n{done.stderr}")
                failed = 1
    return failed


sys.exit(main())
