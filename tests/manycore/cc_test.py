#!/usr/bin/python3
"""cc_test.py MANYCORE-CC MANYCORE - GCC's own options through manycore-cc: objects, several files, libraries,
preprocessed text, dependences, a language that is named, standard input; and what it refuses."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CC, MACHINE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MAIN = """#include <stdio.h>
int other(int);
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += other(i);
    printf("%d\\n", sum);
}
"""
OTHER = "int other(int i) { return i * FACTOR; }\n"


class Options(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "main.c").write_text(MAIN)
        (self.folder / "other.c").write_text(OTHER)

    def cc(self, *arguments, text=None):
        return subprocess.run([CC, *arguments], cwd=self.folder, input=text, capture_output=True, text=True, timeout=60)

    def good(self, *arguments, text=None):
        done = self.cc(*arguments, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def runs(self, program, output, status=0):
        done = subprocess.run([MACHINE, "--clusters", "2", "--cores", "2", self.folder / program], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, output, ""))

    def test_several_files(self):
        self.good("-DFACTOR=2", "main.c", "other.c", "-o", "p.elf")
        self.runs("p.elf", "9900\n")

    def test_objects_and_a_library(self):
        self.good("-g", "-O0", "-c", "main.c")
        self.good("-DFACTOR=3", "-MMD", "-MF", "other.d", "-c", "other.c", "-o", "other.o")
        self.assertIn("other.o: other.c", (self.folder / "other.d").read_text())
        self.good("main.o", "other.o", "-lm", "-o", "p.elf")
        self.runs("p.elf", "14850\n")
        subprocess.run(["riscv64-unknown-elf-ar", "rcs", "libother.a", "other.o"], cwd=self.folder, check=True)
        self.good("main.o", "-L.", "-lother", "-o", "q.elf")
        self.runs("q.elf", "14850\n")

    def test_text(self):
        self.assertIn("return i * 5;", self.good("-E", "-DFACTOR=5", "other.c"))
        self.assertIn("other.o: other.c", self.good("-M", "-DFACTOR=5", "other.c"))
        self.assertIn("GOMP_parallel", self.good("-S", "main.c", "-o", "-"))

    def test_a_named_language_is_the_programs_alone(self):
        self.good("-x", "c", "-", "-o", "p.elf", text="int main(void) { return 3; }\n")
        self.runs("p.elf", "", 3)

    def test_what_is_refused(self):
        for arguments, says in ((["--hal=none", "main.c"], "--hal=none: expected one of hws, sw"),
                                (["--stack=7", "main.c"], "--stack=7: expected a multiple of 16"),
                                (["--data=disk", "main.c"], "--data=disk: expected tcdm, l2 or main")):
            done = self.cc(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), arguments)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
