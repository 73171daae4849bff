#!/usr/bin/python3
"""forms_test.py --psrun PSRUN [--long] [--clang=PROGRAM:... --libomp=DIR] PROGRAM... - what the six manycore
applications promise.

Every program, form and number of threads gives the sequential form's bits, under the compiler's runtime and under ours,
and the program's own plain loops agree (it compares, and would end with status 1). Bad input is one line and exit
status 1. --long: more threads, sizes and runtimes."""

import argparse
import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("--psrun", required=True)
parser.add_argument("--long", action="store_true")
parser.add_argument("--clang", default="")
parser.add_argument("--libomp", default="")
parser.add_argument("programs", nargs="+")
A = parser.parse_args()
PROGRAMS = {Path(p).name: p for p in A.programs}
CLANG = {Path(p).name: p for p in A.clang.split(":") if p}
PEERS_WAIT = {
    **os.environ,
    "OMP_WAIT_POLICY": "passive",
    "OMP_PROC_BIND": "false",
}  # their spinning would be most of the test's time
FORMS = ["sequential", "flat", "cluster", "nested", "numa", "dynamic", "tasks"]
# Small, but of several stripes each; some that no number of threads divides.
SMALL = {
    "mc-color": [["--width", 100, "--height", 61, "--frames", 3, "--stripe", 7]],
    "mc-fast": [["--width", 132, "--height", 97, "--suppress", 1], ["--scene", "chess", "--width", 64]],
    "mc-mahalanobis": [["--first", 48, "--second", 80]],
    "mc-strassen": [["--size", 32], ["--size", 24, "--depth", 1]],
    "mc-ncc": [["--width", 48, "--height", 37, "--template", 7, "--x", 11, "--y", 3]],
    "mc-shot": [
        ["--points", 150, "--keys", 37, "--radius", 300],
        ["--points", 90, "--keys", 20, "--kernel", "histogram"],
    ],
}
LARGER = {
    "mc-color": [["--width", 320, "--height", 240, "--frames", 6]],
    "mc-fast": [["--width", 640, "--height", 480, "--density", 15], ["--scene", "chess", "--width", 512]],
    "mc-mahalanobis": [["--first", 512, "--second", 496]],
    "mc-strassen": [["--size", 256]],
    "mc-ncc": [["--width", 320, "--height", 240, "--template", 16]],
    "mc-shot": [["--points", 1500, "--keys", 300]],
}
THREADS = [(1, 1), (1, 2), (3, 1), (2, 4)]  # 1, 2, 3 and 8 in all
MORE_THREADS = [(1, 1), (2, 1), (1, 3), (3, 3), (2, 2), (4, 4), (8, 8), (16, 2)]


def png(path, width, height, rows):
    """A PNG file of red, green, blue."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    raw = b"".join(b"\0" + bytes(row) for row in rows)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(raw))
        + chunk(b"IEND", b"")
    )


class Forms(unittest.TestCase):
    def run_it(self, command, environment=None):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)

    def good(self, command, environment=None):
        done = self.run_it(command, environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertEqual(done.stdout.count("\n"), 1, command)
        return json.loads(done.stdout)

    def runtimes(self, name):
        """[(its name, the command's beginning, the environment)]"""
        found = [("libgomp", [PROGRAMS[name]], PEERS_WAIT), ("ours", [A.psrun, PROGRAMS[name]], None)]
        if name in CLANG:
            libomp = {**PEERS_WAIT, "LD_LIBRARY_PATH": A.libomp}
            found += [("ours, clang", [A.psrun, CLANG[name]], None), ("libomp", [CLANG[name]], libomp)]
        if A.long:
            found.append(("ours on kernel threads", [A.psrun, "--ee", "pthreads", PROGRAMS[name]], None))
        return found

    def equal_in_all_forms(self, cases, threads):
        for name in PROGRAMS:
            for which, case in enumerate(cases[name]):
                expected = self.good([PROGRAMS[name], "--form", "sequential", *case])
                self.assertGreater(len(expected["stripes"]), 0)
                for runtime, command, environment in self.runtimes(name):
                    for (outer, inner), form in itertools.product(threads, FORMS[1:]):
                        if not A.long and runtime not in ("ours", "libgomp") and (which or (outer, inner) != (2, 4)):
                            continue
                        if not A.long and runtime == "libgomp" and (outer, inner) in ((1, 1), (3, 1)):
                            continue
                        with self.subTest(name=name, case=case, runtime=runtime, form=form, outer=outer, inner=inner):
                            found = self.good(
                                [*command, "--form", form, "--outer", outer, "--inner", inner, *case], environment
                            )
                            self.assertEqual((found["checksum"], found["form"]), (expected["checksum"], form))

    def test_every_form_gives_the_sequential_result(self):
        self.equal_in_all_forms(SMALL, THREADS)

    @unittest.skipUnless(A.long, "--long")
    def test_larger_ones_and_more_threads(self):
        self.equal_in_all_forms(LARGER, MORE_THREADS)

    def test_stripes_of_every_height(self):
        for name, rows in [("mc-color", 61), ("mc-fast", 97)]:
            case = SMALL[name][0][:4]
            sums = {
                self.good([A.psrun, PROGRAMS[name], "--form", "numa", *case, "--stripe", s])["checksum"]
                for s in (1, 2, 5, rows, 1000)
            }
            self.assertEqual(len(sums), 1, name)

    def test_results_differ_where_inputs_do(self):
        """The checksum sees the result."""
        for name, option, values in [
            ("mc-color", "--value", (80, 210)),
            ("mc-fast", "--threshold", (20, 60)),
            ("mc-ncc", "--x", (3, 20)),
            ("mc-mahalanobis", "--first", (32, 48)),
            ("mc-strassen", "--size", (16, 32)),
            ("mc-shot", "--radius", (180, 200)),
        ]:
            sums = {self.good([PROGRAMS[name], "--form", "sequential", option, v])["checksum"] for v in values}
            self.assertEqual(len(sums), 2, name)

    def test_report(self):
        found = self.good([A.psrun, PROGRAMS["mc-fast"], "--outer", 3, "--inner", 2])
        self.assertEqual(
            (found["program"], found["form"], found["outer"], found["inner"], found["regions"]),
            ("mc-fast", "numa", 3, 2, 4),
        )
        self.assertLessEqual(found["work_least_us"], found["work_most_us"])
        self.assertLessEqual(found["work_most_us"], found["time_us"])
        self.assertNotIn("checksum", self.good([PROGRAMS["mc-fast"], "--empty", 1, "--form", "flat"]))

    def test_densities(self):
        """Corners of the pixels: about 15% of a chess pattern, 1.5% and 6% of the streets."""
        for share, options in [
            (0.15, ["--scene", "chess", "--width", 256]),
            (0.15, ["--scene", "chess", "--width", 512]),
        ] + [
            (d / 1000, ["--density", d, "--width", w, "--height", h])
            for d in (15, 60)
            for w, h in ((320, 240), (640, 480))
        ]:
            found = self.good([PROGRAMS["mc-fast"], "--form", "sequential", *options])
            with_default = dict(zip(options[::2], options[1::2]))
            width = with_default["--width"]
            pixels = width * with_default.get("--height", width)
            self.assertAlmostEqual(found["corners"] / pixels, share, delta=share / 6, msg=options)

    def test_images_from_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "image.png"
            png(
                path,
                37,
                29,
                [
                    [(200 if 9 < x < 20 and 5 < y < 15 else 30, 40, 20)[c] for x in range(37) for c in range(3)]
                    for y in range(29)
                ],
            )
            sums = {self.good([A.psrun, PROGRAMS["mc-color"], "--image", path, "--form", f])["checksum"] for f in FORMS}
            self.assertEqual(len(sums), 1)
            found = self.good([PROGRAMS["mc-color"], "--image", path])
            self.assertEqual(found["pixels"], 90)
            self.good([PROGRAMS["mc-fast"], "--image", path])
            self.good([PROGRAMS["mc-ncc"], "--image", path, "--x", 8, "--y", 4])
            path.write_bytes(path.read_bytes()[:-40])
            self.refused("mc-fast", ["--image", path], "image.png: not a whole PNG file")
            self.refused("mc-color", ["--image", Path(folder) / "none.png"], "none.png: No such file or directory")
            self.refused("mc-ncc", ["--image", folder], "not a whole PNG file")
            png(path, 8, 29, [[0] * 24] * 29)
            self.refused("mc-fast", ["--image", path], "8 x 29 pixels; possible are 16 to 8192 each way")

    def refused(self, name, arguments, says):
        done = self.run_it([PROGRAMS[name], *arguments])
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), (arguments, done))
        self.assertTrue(done.stderr.startswith(name + ": "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_bad_arguments(self):
        for name in PROGRAMS:
            for arguments, says in [
                (["--form", "x"], "--form x: expected sequential, flat, cluster, nested, numa, dynamic or tasks"),
                (["--outer", "0"], "--outer 0: expected a whole number from 1 to 1024"),
                (["--inner", "2x"], "--inner 2x"),
                (["--repeat", "-1"], "--repeat -1"),
                (["--repeat", "99999999999"], "--repeat 99999999999"),
                (["--outer"], "--outer: a value is missing"),
                (["--nothing", "1"], "--nothing: no such option"),
                (["1"], "1: no such option"),
                (["--save", "/dev/null"], "/dev/null"),
            ]:
                self.refused(name, arguments, says)
            self.assertEqual(self.run_it([PROGRAMS[name], "--help"]).returncode, 0)
        for name, arguments, says in [
            ("mc-fast", ["--width", 33], "--width 33: expected a multiple of 4"),
            ("mc-fast", ["--scene", "sea"], "--scene sea"),
            ("mc-fast", ["--threshold", 0], "--threshold 0"),
            ("mc-strassen", ["--size", 40], "--size 40: expected a multiple of 16"),
            ("mc-mahalanobis", ["--first", 17], "expected multiples of 16"),
            ("mc-shot", ["--keys", 500], "there are only 480 points"),
            ("mc-shot", ["--kernel", "x"], "--kernel x: expected frame, histogram or both"),
            ("mc-ncc", ["--x", 95], "is not inside the image of 96 x 96"),
        ]:
            self.refused(name, arguments, says)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAMS["mc-fast"]], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "mc-fast: standard output cannot be written\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
