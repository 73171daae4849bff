#!/usr/bin/env python3
"""damaged_test.py REPORT MAKER FOLDER - psthreads-report with recordings that are cut short, damaged, or none, and with
files that cannot be written: one line, and no crash."""

import random
import subprocess
import sys
import unittest
from pathlib import Path

from recordings import Recording, task

REPORT, MAKER, FOLDER = *sys.argv[1:3], Path(sys.argv[3])
COMMANDS = (("pftrace", "-o", FOLDER / "damaged.pftrace"), ("stats",))


class Refused(unittest.TestCase):
    def run_it(self, *arguments):
        done = subprocess.run([REPORT, "pftrace", *arguments], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done)
        return done.stderr

    def test_output(self):
        made = Recording().write(MAKER, FOLDER / "b.recording")
        self.assertIn("No space left", self.run_it(made, "-o", "/dev/full"))
        self.assertIn("/nowhere/out cannot be written", self.run_it(made, "-o", "/nowhere/out"))

    def test_no_recording(self):
        self.assertIn("No such file", self.run_it(FOLDER / "nothing", "-o", FOLDER / "c"))
        self.assertIn("no recording", self.run_it(__file__, "-o", FOLDER / "c"))
        self.assertIn("no recording", self.run_it(FOLDER, "-o", FOLDER / "c"))
        sums = Recording(keeps_events=0).write(MAKER, FOLDER / "b.recording")
        self.assertIn("sums only", self.run_it(sums, "-o", FOLDER / "c"))
        self.assertFalse((FOLDER / "c").exists())


class Damaged(unittest.TestCase):
    def setUp(self):
        r = Recording(rings=2, events=16)
        r.add("code 1 401000 1000 /nowhere/lib.so")
        for i in range(8):
            region, member, made = task(10 * i, code=1), task(10 * i + 1), task(10 * i + 2, code=1)
            at = 100 * i
            r.event(0, at, "REGION_BEGIN", region, task(1), number=2)
            r.event(0, at + 1, "MEMBER_BEGIN", member, region, number=0)
            r.event(0, at + 2, "TASK_CREATE", made, member)
            r.event(1, at + 3, "TASK_BEGIN", made, task(9))
            r.event(1, at + 4, "TASK_END", made, task(9))
            r.event(0, at + 5, "DEPENDENCE", made, made + 10)
            r.event(0, at + 6, "MEMBER_END", member, region)
            r.event(1, at + 7, "PARK", 0)
        self.whole = r.write(MAKER, FOLDER / "whole.recording").read_bytes()
        self.file = FOLDER / "damaged.recording"

    def look(self, what, damaged):
        self.file.write_bytes(damaged)
        for command, *options in COMMANDS:
            done = subprocess.run([REPORT, command, self.file, *options], capture_output=True, text=True,
                                  errors="replace")
            self.assertIn(done.returncode, (0, 1), (what, command, done))
            self.assertLessEqual(done.stderr.count("\n"), 1, (what, command, done))
            self.assertTrue(done.returncode == 0 or done.stderr, (what, command, done))

    def test_cut_short(self):
        for i in range(40):
            length = len(self.whole) * i // 40 if i > 20 else 30 * i
            self.look(f"cut at {length}", self.whole[:length])

    def test_changed(self):
        """Words of the head, of everything and of the events become what they should not be."""
        chance = random.Random(1)
        for i in range(120):
            damaged = bytearray(self.whole)
            for _ in range(1 + i % 4):
                first, end = ((24, 400), (0, len(damaged)), (len(damaged) - 3072, len(damaged)))[i % 3]
                at = 8 * chance.randrange(first // 8, end // 8)
                new = chance.choice([0, 1, 2**64 - 1, 2**63, len(damaged), chance.getrandbits(64),
                                     chance.getrandbits(16)])
                damaged[at:at + 8] = new.to_bytes(8, "little")
            self.look(f"change {i}", bytes(damaged))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
