#!/usr/bin/python3
"""nas_test.py [--psrun PSRUN] [--class C] [--threads T,T...] [--fake FAKE] [--copies] PROGRAM... - each program
verifies its results at each number of threads, by each of its variants, under its compiler's runtime and under ours.
--copies: nested teams as well. --fake: the report says FAILED where it must, and bad arguments get one line and exit
status 1."""

import argparse
import json
import os
import pty
import subprocess
import sys
import unittest
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--psrun")
parser.add_argument("--class", dest="which", default="S")
parser.add_argument("--threads", default="1,2,3,8")
parser.add_argument("--fake")
parser.add_argument("--copies", action="store_true")
parser.add_argument("programs", nargs="+", type=Path)
A = parser.parse_args()


PEERS_WAIT = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # their spinning would be most of the tests' time


def run(*command):
    environment = None if command[0] == A.psrun else PEERS_WAIT
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)


class Nas(unittest.TestCase):
    def verified(self, *command):
        with self.subTest(command=command):
            done = run(*command, "--json", A.which)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertIn("VERIFICATION SUCCESSFUL\n", done.stdout)
            self.assertNotIn("WRONG", done.stdout)
            row = json.loads(done.stdout.splitlines()[-1])
            self.assertTrue(row["verified"])
            self.assertGreater(row["mops"], 0)

    def runtimes(self):
        return [[], [A.psrun], [A.psrun, "--ee", "pthreads"]] if A.psrun else [[]]

    def test_verification(self):
        for program in A.programs:
            variants = [[]]
            if program.name.startswith("nas-lu"):
                variants = [["--variant", "pipelined"], ["--variant", "hyperplane"]]
            for variant in variants:
                for runtime in self.runtimes():
                    counts, copies = A.threads.split(","), A.copies
                    if "pthreads" in runtime:
                        counts = ["3"]
                    if "pipelined" in variant and not runtime:  # libgomp's doacross loops spin and never sleep
                        counts, copies = [t for t in counts if int(t) <= 2], False
                    for threads in counts:
                        self.verified(*runtime, program, "--threads", threads, *variant)
                    if copies:
                        self.verified(*runtime, program, "--copies", 3, "--threads", 2, *variant)

    def test_progress_on_a_terminal(self):
        for program in A.programs:
            master, slave = pty.openpty()
            done = subprocess.run([program, A.which], stdout=subprocess.PIPE, stderr=slave, text=True, env=PEERS_WAIT)
            os.close(slave)
            shown = b""
            while not shown.endswith(b"\r\x1b[K"):
                try:
                    shown += os.read(master, 4096)
                except OSError:  # all has been read
                    break
            os.close(master)
            self.assertIn("VERIFICATION SUCCESSFUL\n", done.stdout)
            self.assertRegex(shown, rb"^iteration 0 of \d+.*\r\x1b\[K$")

    def test_both_sweeps_are_equal_to_the_bit(self):
        for program in A.programs:
            if program.name.startswith("nas-lu"):
                runtime = [A.psrun] if A.psrun else []
                found = [run(*runtime, program, "--threads", t, "--variant", v, A.which).stdout.splitlines()[1:12]
                         for t, v in [(1, "pipelined"), (3, "pipelined"), (3, "hyperplane")]]
                self.assertEqual(found[0][-1].split()[0], "surface")
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0], found[2])

    @unittest.skipUnless(A.fake, "no --fake")
    def test_report(self):
        fine = run(A.fake, "S", "--variant", "other", "--copies", 2)
        self.assertEqual(fine.returncode, 0, fine.stderr)
        self.assertIn("nothing of class S", fine.stdout)
        self.assertIn("epsilon 1e-08: VERIFICATION SUCCESSFUL\n2.000 seconds, 6.00 Mop/s\n", fine.stdout)
        for which, wrong in ("W", 1), ("A", 1), ("B", 0):
            for copies in 1, 2:
                done = run(A.fake, which, "--copies", copies)
                self.assertEqual((done.returncode, done.stdout.count("WRONG")), (1, wrong * copies), done.stdout)
                self.assertIn("VERIFICATION FAILED\n", done.stdout)
                self.assertNotIn("SUCCESSFUL", done.stdout)

    @unittest.skipUnless(A.fake, "no --fake")
    def test_bad_arguments(self):
        cases = [
            ([], "nas-fake: one class is expected (S, W, A or B), not 0\n"),
            (["Z"], "class 'Z'"),
            (["SW"], "class 'SW'"),
            (["S", "W"], "nas-fake: one class is expected (S, W, A or B), not 2\n"),
            ([""], "nas-fake: class '': expected one of S, W, A, B"),
            (["--threads", "0", "S"], "--threads 0: expected a whole number from 1 to 4096"),
            (["--copies", "2x", "S"], "--copies 2x"),
            (["--variant", "third", "S"], "--variant third: expected one that --help lists"),
            (["--none", "S"], "--none"),
        ]
        for arguments, says in cases:
            with self.subTest(arguments=arguments):
                done = run(A.fake, *arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
