#!/usr/bin/env python3
"""traced_test.py PSRUN CXX FOLDER - the timelines of programs, from psrun --trace to what Perfetto's own definitions
read (PyPI: perfetto, which `make python` installs in the build). There have to be as many tasks and regions as the
program says, and bodies as long as its own clock says. Skipped without the definitions, or a C++ compiler."""

import collections
import os
import shutil
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

try:
    from timeline import Timeline
except ImportError:
    venv = Path(sys.argv[3]).resolve().parents[2] / "python/venv/bin/python"
    if venv.exists() and sys.executable != str(venv):
        os.execv(venv, [str(venv), *sys.argv])
    print("skipped: no Python package perfetto (make python installs it)")
    sys.exit(77)

PSRUN, CXX, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
SOURCE = Path(__file__).resolve().parent / "traced.cc"
TWO_REGIONS = SOURCE.with_name("two_regions.c")


def run(mode, status=0, vps=2, program="traced", **environment):
    """(the timelines, the program's own first; what the program printed: its numbers by name)."""
    for old in FOLDER.glob("out*"):
        old.unlink()
    done = subprocess.run([PSRUN, "--trace", FOLDER / "out.pftrace", FOLDER / program, mode], capture_output=True,
                          text=True, env={**os.environ, "PSTHREADS_NUM_VPS": str(vps), **environment})
    assert done.returncode == status, done
    told = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        name, number = line.split()
        told[name].append(int(number))
    files = sorted(FOLDER.glob("out*.pftrace"), key=lambda f: (f.name != "out.pftrace", f.name))
    return [Timeline(f) for f in files], told


class Traced(unittest.TestCase):
    def check(self, timeline, told):
        self.assertEqual(timeline.problems, [])
        for name, category in (("tasks", "task"), ("regions", "region"), ("members", "member")):
            if name in told:
                self.assertEqual(len(timeline.of(category)), sum(told[name]), name)
        for slices in (timeline.of("task"), timeline.of("region")):
            for s in slices:
                self.assertRegex(s.name, r"(task|parallel) traced\.cc:\d+")
                self.assertEqual(s.place[0], str(SOURCE))

    def one(self, mode, **how):
        (timeline, *others), told = run(mode, **how)
        self.assertEqual(others, [])
        self.check(timeline, told)
        return timeline, told

    def bodies(self, timeline, told):
        """Each slice has its body and little more; how much more is seen where nothing interrupts: in the middle."""
        slices = sorted(s.end - s.start for s in timeline.of("task"))
        self.assertGreaterEqual(sum(slices), sum(told["body"]))
        self.assertLess(statistics.median(slices), 1.01 * statistics.median(told["body"]) + 200)

    def check_made(self, timeline):
        """Tasks that do not run at once are made somewhere, and an arrow goes from there to their begin."""
        made = [i for i in timeline.instants if i.name.startswith("create task")]
        self.assertEqual([a for a, _ in timeline.arrows.values() if a.end is None], made)

    def test_tasks(self):
        for vps in (1, 3):
            timeline, told = self.one("tasks", vps=vps)
            self.bodies(timeline, told)
            self.check_made(timeline)

    def test_many(self):
        timeline, _ = self.one("many")
        self.assertEqual(timeline.facts()["lost"], 0)
        self.check_made(timeline)

    def test_the_oldest_go(self):
        (timeline,), _ = run("many", PSTHREADS_TRACE_LIMIT="2M")
        self.assertEqual(timeline.problems, [])
        self.assertGreater(timeline.facts()["lost"], 0)
        self.assertLess(len(timeline.of("task")), 60000)

    def test_dependences(self):
        timeline, told = self.one("dependences")
        tasks = sorted(timeline.of("task"), key=lambda s: s.start)
        between = [(a, b) for a, b in timeline.arrows.values() if a in tasks[1:]]
        self.assertEqual(len(between), told["dependences"][0])
        for first, second in between:
            self.assertLessEqual(first.end, second.start)

    def test_nested(self):
        for vps in (1, 2, 4):
            timeline, _ = self.one("nested", vps=vps)
            self.assertEqual({m.notes["threads"] for m in timeline.of("member")}, {3, 4})
            self.assertTrue(any(w.name == "barrier" for w in timeline.of("wait", resumed=True)))

    def test_lines(self):
        """A region's line is that of its directive, or of the first statement in it."""
        lines = TWO_REGIONS.read_text().splitlines()
        directives = [i for i, line in enumerate(lines, 1) if "#pragma" in line]
        (timeline,), _ = run("", program="two_regions")
        shown = [region.place[1] for region in timeline.of("region")]
        self.assertEqual([d for line in shown for d in directives if line in (d, d + 1)], directives * 3)

    def test_locks(self):
        timeline, _ = self.one("locks")
        for wait in timeline.of("wait"):
            if wait.name == "lock":
                self.assertEqual(wait.place[0], str(SOURCE))
                self.assertGreater(wait.notes["lock"], 0)

    def test_foreign_threads(self):
        self.one("foreign")

    def test_exceptions(self):
        self.one("exceptions")

    def test_signals(self):
        self.bodies(*self.one("signals"))

    def test_killed(self):
        self.one("killed", status=-9)

    def test_fork(self):
        (parent, child), told = run("fork")
        self.check(parent, told)
        self.check(child, {"regions": [1], "members": [3]})
        self.assertNotEqual(parent.process.process.pid, child.process.process.pid)

    def test_exec(self):
        (first, second), told = run("exec")
        self.check(first, {"regions": [1], "members": [2]})
        self.check(second, told)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not shutil.which(CXX):
        print("skipped: no C++ compiler")
        sys.exit(77)
    for language, source in (("c++", SOURCE), ("c", TWO_REGIONS)):
        subprocess.run([CXX, "-O2", "-g", "-fopenmp", "-x", language, source, "-o", FOLDER / source.stem], check=True)
    unittest.main(argv=sys.argv[:1])
