#!/usr/bin/python3
"""What verdict.py answers for values whose answer is plain."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import verdict as v


def ratio(above, below):
    return v.ratio_interval(dict(enumerate(above)), dict(enumerate(below)), "us")


class Verdicts(unittest.TestCase):
    def test_clearly_met_missed_and_between(self):
        ours = [1.0, 1.1, 0.9, 1.0, 1.05]
        self.assertEqual(v.judge(ratio([x * 4 for x in ours], ours), 3), v.MET)
        self.assertEqual(v.judge(ratio([x * 2 for x in ours], ours), 3), v.MISSED)
        self.assertEqual(v.judge(ratio([2, 4, 3, 2.5, 3.5], ours), 3), v.NOISE)

    def test_one_disturbed_run_does_not_decide(self):
        self.assertEqual(v.judge(ratio([4.0] * 7, [1.0] * 6 + [500.0]), 3), v.MET)

    def test_a_machine_in_two_states_is_compared_within_each(self):
        ours, theirs = [1.0, 4.0, 1.1, 3.9, 1.0, 4.1], [2.0, 8.1, 2.2, 7.8, 2.1, 8.0]
        self.assertEqual(v.judge(ratio(theirs, ours), 1.9), v.MET)

    def test_only_rounds_that_have_both_are_compared(self):
        self.assertAlmostEqual(v.ratio_interval({0: 9.0, 2: 4.0, 3: 4.0}, {1: 50.0, 2: 2.0, 3: 2.0})[0], 2)
        self.assertIsNone(v.ratio_interval({0: 1.0}, {1: 1.0}))

    def test_too_small_to_compare(self):
        self.assertIsNone(ratio([0.001] * 3, [0.0005] * 3))
        self.assertEqual(v.judge(None, 1), v.NOISE)
        # an overhead below zero counts as the resolution, not as infinitely fast
        self.assertAlmostEqual(ratio([0.2] * 3, [-0.1] * 3)[0], 100)

    def test_rows_of_several_conditions(self):
        self.assertEqual(v.worst([v.MET, v.NOISE]), v.NOISE)
        self.assertEqual(v.worst([v.MET, v.MISSED, v.NOISE]), v.MISSED)
        self.assertEqual(v.worst([]), v.ABSENT)
        self.assertEqual(v.enough_of([v.MET, v.MISSED, v.MET], 2), v.MET)
        self.assertEqual(v.enough_of([v.MET, v.MISSED, v.NOISE], 2), v.NOISE)
        self.assertEqual(v.enough_of([v.MET, v.MISSED, v.MISSED], 2), v.MISSED)

    def test_line(self):
        a, b, off = v.line_through([(n, 2 + 0.5 * n) for n in (8, 16, 64, 256)])
        self.assertAlmostEqual(a, 2)
        self.assertAlmostEqual(b, 0.5)
        self.assertAlmostEqual(off, 0)
        self.assertGreater(v.line_through([(n, n * n) for n in (8, 16, 64, 256)])[2], 0.25)


if __name__ == "__main__":
    unittest.main()
