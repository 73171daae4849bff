#!/usr/bin/python3
"""pcure_test.py --psrun PSRUN --plain PCURE-PLAIN [--quick] PCURE - what pcure promises.

Labels are equal to the plain implementation's under every variant, number of threads and runtime, and to scipy's single
linkage where the two must agree. Files of every kind are read. Bad input is said in one line with exit status 1.
--quick: only the labels."""

import argparse
import array
import os
import pty
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import spheres

parser = argparse.ArgumentParser()
parser.add_argument("--psrun", required=True)
parser.add_argument("--plain", required=True)
parser.add_argument("--quick", action="store_true")
parser.add_argument("pcure")
A = parser.parse_args()
THREADS = [2, 3] if A.quick else [1, 2, 3, 8]
PEERS_WAIT = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # their spinning would be most of the tests' time
RUNTIMES = {"the compiler's": [], "ours": [A.psrun], "ours on kernel threads": [A.psrun, "--ee", "pthreads"]}


def npy(rows, descr="<f8", fortran=False, shape=None):
    """The bytes of a .npy file."""
    head = spheres.npy_header(len(rows), len(rows[0]), descr, fortran)
    if shape is not None:
        head = head.replace(f"({len(rows)}, {len(rows[0])})".encode(), shape.encode())
    flat = [x for column in zip(*rows) for x in column] if fortran else [x for row in rows for x in row]
    code = {"f4": "f", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
            "u8": "Q"}.get(descr[1:], "d")
    return head + struct.pack((">" if descr[0] == ">" else "<") + str(len(flat)) + code, *flat)


class Pcure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="pcure-")
        cls.folder = Path(cls.temporary.name)
        # numbers that float32 holds exactly, so that every kind of file says the same
        cls.rows = [list(array.array("f", row)) for row in spheres.spheres(230, 10, 9, 0.1, 7)]
        # points that stand twice, and a grid: equal distances
        cls.ties = [[float(i % 7), float(i // 7 % 6), float(i % 2)] for i in range(84)]
        cls.csv = cls.write("points.csv", cls.text(cls.rows))
        cls.grid = cls.write("grid.csv", cls.text(cls.ties))
        cls.truth, rows = cls.blobs(500, 40)
        cls.noisy = cls.write("noisy.csv", cls.text(rows))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def blobs(points, noise):
        """Five clear clusters in the plane with points between them: [cluster, or None], [row]."""
        draw, centres = random.Random(5), [(0, 0), (10, 1), (4, 9), (-7, 8), (-8, -6)]
        both = [(i % 5, [x + draw.gauss(0, 0.8) for x in centres[i % 5]]) for i in range(points)]
        both += [(None, [draw.uniform(-14, 14), draw.uniform(-12, 14)]) for _ in range(noise)]
        draw.shuffle(both)
        return [list(column) for column in zip(*both)]

    @staticmethod
    def text(rows):
        return "".join(",".join(map(repr, row)) + "\n" for row in rows)

    @classmethod
    def write(cls, name, content):
        path = cls.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_it(self, *arguments, runtime="the compiler's"):
        environment = None if RUNTIMES[runtime] else PEERS_WAIT
        command = [*RUNTIMES[runtime], A.pcure, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def labels(self, *arguments, runtime="the compiler's"):
        done = self.run_it(*arguments, runtime=runtime)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def plain(self, k, representatives, shrink, path, outliers="remove"):
        command = [A.plain, str(k), str(representatives), str(shrink), outliers, path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_equal_to_the_plain_implementation(self):
        cases = [(self.csv, 9, 1, 1, "keep"), (self.csv, 5, 4, 0.3, "keep"), (self.grid, 6, 3, 0.5, "keep"),
                 (self.csv, 3, 1000, 0, "keep"), (self.csv, 5, 4, 0.3, "remove"), (self.noisy, 5, 3, 0.5, "remove")]
        for path, k, representatives, shrink, outliers in cases:
            expected = self.plain(k, representatives, shrink, path, outliers)
            options = ["--k", k, "--representatives", representatives, "--shrink", shrink, "--outliers", outliers, path]
            self.assertEqual(self.labels("--variant", "sequential", *options), expected)
            for runtime in RUNTIMES:
                usual = runtime == "ours on kernel threads" or path != self.csv or shrink != 0.3
                for threads in [3] if usual else THREADS:
                    for variant, inner in [("nested", 1), ("nested", threads), ("tasks", 1), ("lazy", 1)]:
                        how = ["--variant", variant, "--threads", threads, "--inner", inner]
                        with self.subTest(path=path.name, outliers=outliers, shrink=shrink, runtime=runtime, how=how):
                            self.assertEqual(self.labels(*how, *options, runtime=runtime), expected)

    def test_searches_of_many_entries_in_parallel(self):
        """More entries than are left to one thread."""
        path = self.write("many.npy", npy(list(spheres.spheres(4700, 3, 30, 0.1, 3))))
        expected = self.labels("--variant", "sequential", "--k", 4200, path)
        for runtime in RUNTIMES:
            found = self.labels("--variant", "lazy", "--threads", 3, "--k", 4200, path, runtime=runtime)
            self.assertEqual(found, expected, runtime)

    @unittest.skipIf(A.quick, "--quick")
    def test_all_and_one_cluster(self):
        n = len(self.rows)
        self.assertEqual(self.labels("--k", n, self.csv), "".join(f"{i}\n" for i in range(n)))
        self.assertEqual(self.labels("--k", 1, self.csv), "0\n" * n)
        self.assertEqual(self.labels(self.write("one.csv", "1,2\n")), "0\n")  # the usual k is no more than the points

    def rand_index(self, labels):
        """The adjusted Rand index of the points that belong to a cluster (Hubert, Arabie 1985)."""
        pairs = [(a, b) for a, b in zip(self.truth, labels.split()) if a is not None]
        both, ours, theirs, every = (sum(x * (x - 1) // 2 for x in counts) for counts in (
            Counter(pairs).values(), Counter(b for _, b in pairs).values(), Counter(a for a, _ in pairs).values(),
            [len(pairs)]))
        by_chance = ours * theirs / every
        return (both - by_chance) / ((ours + theirs) / 2 - by_chance)

    @unittest.skipIf(A.quick, "--quick")
    def test_outliers_do_not_take_the_clusters_places(self):
        self.assertGreater(self.rand_index(self.labels("--k", 5, self.noisy)), 0.99)
        kept = self.labels("--k", 5, "--outliers", "keep", self.noisy)
        self.assertLess(self.rand_index(kept), 0.7)
        self.assertEqual(min(Counter(kept.split()).values()), 1)

    @unittest.skipIf(A.quick, "--quick")
    def test_plot(self):
        pictures = []
        for k, name in (5, "five.png"), (2, "two.PNG"):
            path = self.folder / name
            self.assertEqual(self.labels("--k", k, "--plot", path, self.noisy), self.labels("--k", k, self.noisy))
            pictures.append(path.read_bytes())
            self.assertEqual(pictures[-1][:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", pictures[-1][16:24]), (800, 800))
        self.assertNotEqual(*pictures)
        for rows in [[5.0]], [[1.0], [2.0]], [[1e150, -1e150], [-1e150, 1e150]], [[3.0, 3.0]] * 4:
            path = self.write("odd.csv", self.text(rows))
            self.labels("--plot", self.folder / "odd.png", path)
        self.refused(["--plot", self.folder / "o.jpg", self.csv], "o.jpg: a name that ends in .png is expected")
        done = self.run_it("--plot", self.folder / "none" / "o.png", self.csv)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("No such file or directory", done.stderr)
        self.assertFalse(list(self.folder.glob("*.part")))

    @unittest.skipIf(A.quick, "--quick")
    def test_scipy_single_linkage(self):
        try:
            import numpy
            from scipy.cluster.hierarchy import fcluster, linkage
        except ImportError:
            self.skipTest("python3-scipy is not installed")
        for seed, n, dim, k in [(1, 300, 3, 12), (2, 200, 24, 5), (3, 250, 2, 60)]:
            rows = list(spheres.spheres(n, dim, 8, 0.2, seed))
            path = self.write("linkage.csv", self.text(rows))
            ours = [int(x) for x in self.labels("--k", k, "--representatives", n, "--shrink", 0, "--outliers",
                                               "keep", path).split()]
            theirs = fcluster(linkage(numpy.array(rows), "single"), k, "maxclust")
            numbers = {}
            self.assertEqual(ours, [numbers.setdefault(x, len(numbers)) for x in theirs])

    @unittest.skipIf(A.quick, "--quick")
    def test_kinds_of_files(self):
        expected = self.labels(self.csv)
        for descr in "<f8", ">f8", "<f4", ">f4":
            for fortran in False, True:
                with self.subTest(descr=descr, fortran=fortran):
                    self.assertEqual(self.labels(self.write("p.npy", npy(self.rows, descr, fortran))), expected)
        loose = "# a comment\n\n" + self.text(self.rows).replace(",", " ,\t").replace("\n", "\r\n").rstrip()
        self.assertEqual(self.labels(self.write("loose.csv", loose)), expected)
        self.assertEqual(self.labels(self.write("marked.csv", "\ufeff" + self.text(self.rows))), expected)
        head = npy(self.rows)
        second = head[:6] + b"\x02\x00" + head[8:10] + b"\x00\x00" + head[10:]
        self.assertEqual(self.labels(self.write("second.npy", second)), expected)

    @unittest.skipIf(A.quick, "--quick")
    def test_header_and_index(self):
        """What pandas writes: to_csv(index=False), and by default with the index in front, which is no coordinate."""
        expected = self.labels(self.csv)
        names = ",".join(f"x{i}" for i in range(len(self.rows[0])))
        self.assertEqual(self.labels(self.write("header.csv", names + "\n" + self.text(self.rows))), expected)
        quoted = "# written by hand\n\n" + ",".join(f'"{i}. column"' for i in range(len(self.rows[0]))) + "\r\n"
        self.assertEqual(self.labels(self.write("quoted.csv", quoted + self.text(self.rows))), expected)
        numbers = ",".join(str(i) for i in range(len(self.rows[0])))
        for first in "", '""':  # the columns of an array have numbers for names
            for head, mark in (names, "row {}"), (numbers, "{}"):
                lines = [f"{first},{head}"] + [f"{mark.format(9 * i)},{line}"
                                               for i, line in enumerate(self.text(self.rows).splitlines())]
                with self.subTest(first=lines[0], second=lines[1]):
                    self.assertEqual(self.labels(self.write("index.csv", "\n".join(lines))), expected)

    @unittest.skipIf(A.quick, "--quick")
    def test_integers(self):
        rows = [[i * 7 % 120, i * i % 90] for i in range(200)]
        signed = [[x - 50, y - 80] for x, y in rows]
        for numbers, kinds in (rows, "iu"), (signed, "i"):
            expected = self.labels(self.write("whole.csv", self.text(numbers)))
            for kind in kinds:
                for descr in f"|{kind}1", f"<{kind}2", f">{kind}2", f"<{kind}4", f">{kind}4", f"<{kind}8", f">{kind}8":
                    with self.subTest(descr=descr):
                        self.assertEqual(self.labels(self.write("whole.npy", npy(numbers, descr))), expected)
        wide = [[2.0**31 * i, 2.0**40 * (i % 3)] for i in range(40)]
        self.assertEqual(self.labels(self.write("wide.npy", npy([[int(x) for x in row] for row in wide], "<i8"))),
                         self.labels(self.write("wide.csv", self.text(wide))))

    @unittest.skipIf(A.quick, "--quick")
    def test_bad_input(self):
        whole = npy(self.rows)
        rows = [[1.0, 2.0], [float("nan"), 3.0]]
        cases = [
            ("1,2\n3,4x\n", ":2: field 2, '4x', is not a number"),
            ("1,2\n\n3,,4\n", ":3: field 2, '', is not a number"),
            ("1,2\n3\n", ":2: 1 numbers, the lines before have 2"),
            ("1,2\n3,4,5\n", ":2: more than the 2 numbers"),
            ("1,nan\n", ":1: field 2 is not finite"),
            ("1e999,1\n", ":1: field 1 is not finite"),
            ("1,-2e160\n", ":1: field 2 is beyond 1e150"),
            (npy([[1.0, 2e160]]), ": row 1, column 2 is beyond 1e150"),
            ("", ": no points in it"),
            ("1,2\n\ufeff3,4\n", ":2: field 1, '\ufeff3', is not a number"),
            ("# nothing\n\n", ": no points in it"),
            (b"1,2\n3\0,4\n", ":2: a byte of value 0"),
            (b"1,2\n3,4\0\n", ":2: a byte of value 0"),
            (whole[:-3], ": 18397 bytes of numbers, the header promises 18400 (230 x 10): the file is cut off"),
            (whole[:40], ": the .npy header is cut off"),
            (whole[:7], ": the .npy header is cut off"),
            (npy(self.rows, "<f2"), ": numbers of type '<f2'; expected integers, float32 or float64"),
            (npy(self.rows, "<c8"), ": numbers of type '<c8'; expected integers"),
            ("x,y\n", ": no points in it"),
            ("x,y\nz,w\n", ":2: field 1, 'z', is not a number"),
            ("x,y\n1,2\n3,4x\n", ":3: field 2, '4x', is not a number"),
            ("x,1\n", ":1: field 1, 'x', is not a number"),
            (",x,y\n0,1,2\n1,3,q\n", ":3: field 3, 'q', is not a number"),
            (",4,5\n0,1,2\n", ":1: field 1, '', is not a number"),
            (",x\n0\n", ":2: an index and no number"),
            (npy(self.rows, shape="(2300,)"), ": an array of 1 axes; expected 2"),
            (npy(self.rows, shape="(0, 10)"), ": no points in it"),
            (npy(self.rows, shape="(4611686018427387904, 10)"), "does not fit in memory"),
            (npy(rows), ": row 2, column 1 is not finite"),
            (npy(rows, fortran=True), ": row 2, column 1 is not finite"),
            (whole.replace(b"'descr'", b"'desc_'"), ": the .npy header lacks"),
        ]
        for content, says in cases:
            with self.subTest(says=says):
                path = self.write("bad", content)
                self.refused([path], f"pcure: {path}{says}" if says[0] == ":" else says)
        self.refused([self.folder / "none.csv"], "none.csv: No such file or directory")
        self.refused([self.folder], "a folder; expected a CSV or .npy file")
        self.refused(["--k", 231, self.csv], "--k 231, but there are only 230 points")

    @unittest.skipIf(A.quick, "--quick")
    def test_large_and_small_numbers(self):
        for scale in 1e148, 1e-160, 0.0:
            path = self.write("scaled.csv", self.text([[scale * i, -scale * i * i] for i in range(-4, 4)]))
            self.assertEqual(self.labels("--k", 3, path), self.plain(3, 10, 0.3, path))

    @unittest.skipIf(A.quick, "--quick")
    def test_bad_options(self):
        cases = [
            (["--k", 0], "--k 0: expected a whole number of at least 1"),
            (["--k", "-3"], "--k -3"),
            (["--k", "2x"], "--k 2x"),
            (["--shrink", "1.5"], "--shrink 1.5: expected a number from 0 to 1"),
            (["--shrink", "nan"], "--shrink nan"),
            (["--representatives", "0"], "--representatives 0"),
            (["--threads", "99999"], "--threads 99999"),
            (["--outliers", "x"], "--outliers x: expected remove or keep"),
            (["--variant", "x"], "--variant x: expected lazy, nested, tasks or sequential"),
        ]
        for options, says in cases:
            self.refused([*options, self.csv], says)
        self.refused([], "no file given")
        self.refused([self.csv, self.csv], "more than one file given")

    def refused(self, arguments, says):
        done = self.run_it(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn(says, done.stderr)

    @unittest.skipIf(A.quick, "--quick")
    def test_labels_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([A.pcure, self.csv], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "pcure: standard output: No space left on device\n"))

    @unittest.skipIf(A.quick, "--quick")
    def test_progress_only_on_a_terminal(self):
        path = self.write("longer.npy", npy(list(spheres.spheres(6000, 24, 10, 0.2, 1))))
        master, slave = pty.openpty()
        child = subprocess.Popen([A.pcure, "--variant", "sequential", path], stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.assertEqual(child.stdout.read().count(b"\n"), 6000)
        child.stdout.close()
        shown = b""
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:
                break
            shown += more
        os.close(master)
        self.assertEqual(child.wait(), 0)
        self.assertRegex(shown, rb"merging: \d+ of 5990")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
