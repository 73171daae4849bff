#!/usr/bin/python3
"""pcure_mpi_test.py [--quick] --psrun PSRUN --pcure PCURE --mpirun MPIRUN PCURE-MPI - the labels of pcure_mpi.

They are pcure's, to the bit, for every number of ranks, variant and kind of file; bad input is one line of the
program's on standard error and exit status 1. --quick: three ranks only, and one file of each kind."""

import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "pcure"))
sys.dont_write_bytecode = True
import spheres

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true")
parser.add_argument("--psrun", required=True)
parser.add_argument("--pcure", required=True)
parser.add_argument("--mpirun", required=True)
parser.add_argument("program")
A = parser.parse_args()
RANKS = [3] if A.quick else [1, 2, 4]  # the quick test has three
LAUNCHER = [A.mpirun] + (["--oversubscribe"] if "openmpi" in A.mpirun else [])
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("OMPI_COMM_", "PMI_", "PMIX_", "MPI_LOCAL", "SLURM_"))},
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "2"}


class PcureMpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="pcure-mpi-")
        cls.folder = Path(cls.temporary.name)
        cls.rows = list(spheres.spheres(230, 10, 9, 0.1, 7))
        cls.csv = cls.write("points.csv", cls.text(cls.rows))
        # points that stand twice, and a grid: equal distances, which the numbers of ranks must not decide
        cls.grid = cls.write("grid.csv", cls.text([[float(i % 7), float(i // 7 % 6), float(i % 2)] for i in range(84)]))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def text(rows):
        return "".join(",".join(map(repr, row)) + "\n" for row in rows)

    @classmethod
    def write(cls, name, content):
        path = cls.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def job(self, ranks, *arguments):
        command = [*LAUNCHER, "-n", str(ranks), A.psrun, A.program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)

    def compare(self, ranks, *arguments):
        done = self.job(ranks, *arguments)
        expected = subprocess.run([A.pcure, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual((done.returncode, expected.returncode), (0, 0), done.stderr + expected.stderr)
        self.assertEqual(done.stdout, expected.stdout, (ranks, arguments))

    def test_equal_to_shared_memory(self):
        for ranks in RANKS:
            self.compare(ranks, "--k", 9, "--representatives", 4, self.csv)
            self.compare(ranks, "--k", 6, "--variant", "nested", "--threads", 2, "--inner", 2, self.grid)
            if not A.quick:
                self.compare(ranks, "--k", 6, "--representatives", 3, "--shrink", 0.5, self.grid)
                self.compare(ranks, "--k", 3, "--representatives", 1000, "--shrink", 0, "--variant", "sequential",
                             self.csv)

    def test_outliers(self):
        draw = random.Random(5)
        rows = [[10 * (i % 5) + draw.gauss(0, 1), 20 * (i % 2) + draw.gauss(0, 1)] for i in range(600)]
        path = self.write("noisy.csv", self.text(rows + [[draw.uniform(-20, 60)] * 2 for _ in range(40)]))
        for ranks in RANKS:
            for variant in ["lazy"] if A.quick else ["lazy", "nested", "sequential"]:
                self.compare(ranks, "--k", 10, "--variant", variant, path)
            self.compare(ranks, "--k", 10, "--outliers", "keep", path)

    def test_files_dealt_in_several_rounds(self):
        """More rows than rank 0 holds at once, in both orders of .npy."""
        rows = list(spheres.spheres(1500, 100, 9, 0.1, 5))
        for fortran in [True] if A.quick else [False, True]:
            flat = [x for column in zip(*rows) for x in column] if fortran else [x for row in rows for x in row]
            content = spheres.npy_header(len(rows), 100, "<f8", fortran) + struct.pack(f"<{len(flat)}d", *flat)
            self.compare(RANKS[-1] if A.quick else 2, "--k", 1450, self.write("many.npy", content))

    def test_fewer_points_than_ranks(self):
        self.compare(3, "--k", 1, self.write("two.csv", "1,2\n3,4\n"))

    def test_bad_input(self):
        cases = [
            (["--k", 231, self.csv], r": .*points.csv: --k 231, but there are only 230 points"),
            ([self.folder / "none.csv"], ": .*none.csv: No such file or directory"),
            ([self.write("bad.csv", self.text(self.rows) * 9 + "1,2\n")],
             ": .*bad.csv:2071: 2 numbers, the lines before have 10"),
        ]
        if not A.quick:
            cases += [
                (["--variant", "tasks", self.csv], ": --variant tasks: expected lazy, nested or sequential"),
                (["--plot", "o.png", self.csv], ": --plot o.png: no rank holds all points; pcure draws them"),
                (["--shrink", "2", self.csv], ": --shrink 2: expected a number from 0 to 1"),
                ([], ": no file given; expected one FILE.csv or FILE.npy"),
                ([self.write("empty.csv", "")], ": .*empty.csv: no points in it; expected at least one"),
                ([self.write("wide.npy", spheres.npy_header(5, 3))], ": .*wide.npy: 0 bytes of numbers"),
            ]
        for arguments, says in cases:
            done = self.job(2, *arguments)
            lines = [line for line in done.stderr.splitlines() if line.startswith(f"{Path(A.program).name}: ")]
            self.assertEqual((done.returncode, len(lines)), (1, 1), done.stderr)
            self.assertRegex(lines[0], says)
            self.assertFalse(re.search("^[0-9]+$", done.stdout, re.M), done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
