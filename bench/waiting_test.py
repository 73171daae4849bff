#!/usr/bin/python3
"""What waiting.py reads of a run and answers for values whose answer is plain; and that its rows can be told apart."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import verdict as v
import waiting as w
import waiting_rows

ROW = waiting_rows.Row("group", "title", "4", ("program", "4"), regions=11)
LINE = ('{"bench": "x", "shape": "4", "unit": "ms", "regions": 11, "first": 7.0, "median": 1.0, "mean": 2.0, '
        '"total": 20.0, "cpu": 0.5}\n')


def judged(ours, libgomp, libomp=None, late=(), failed=()):
    """Each: {measure: value}, the same in three rounds."""
    values = {}
    for peer, of in ((w.OURS, ours), ("libgomp", libgomp), ("libomp", libomp or {})):
        for measure, value in of.items():
            values[ROW.name, measure, peer] = {0: value, 1: value, 2: value}
    return w.Judged(ROW, values, {(ROW.name, p) for p in late}, {(ROW.name, p): "exit status 1" for p in failed})


def of(time, first=10.0, cpu=1.0):
    return {w.TIME: time, w.FIRST: first, w.CPU: cpu}


class Rows(unittest.TestCase):
    def test_each_row_has_its_name(self):
        names = [row.name for row in waiting_rows.ROWS]
        self.assertEqual(len(names), len(set(names)))

    def test_a_line_with_the_first_region_apart(self):
        self.assertEqual(w.read_values(ROW, LINE), {w.FIRST: 7.0, w.TIME: 2.0, w.CPU: 0.5})
        self.assertEqual(w.read_values(ROW, "no line\n"), {})

    def test_lines_of_samples(self):
        row, = waiting_rows.lines("g", "2", ["sparse"], ["sparse, 200 us"], cpu=", burnt")
        out = ('{"bench": "sparse, 200 us", "unit": "us", "median": 1500, "mean": 9}\n'
               '{"bench": "sparse, 200 us, burnt", "unit": "us", "median": 3000, "mean": 9}\n')
        self.assertEqual(w.read_values(row, out), {w.TIME: 1.5, w.CPU: 3.0})

    def test_the_number_of_regions_is_the_last_argument(self):
        self.assertEqual(ROW.arguments(Path("/b")), [Path("/b/program"), "4", "11"])
        self.assertEqual(ROW.arguments(Path("/b"), 3)[-1], "3")


class Verdicts(unittest.TestCase):
    def test_the_better_peer_counts(self):
        j = judged(of(2.0), of(4.0), of(1.0))
        self.assertEqual((j.better, j.verdict, j.parts[w.TIME][0]), ("libomp", v.MISSED, 2.0))
        self.assertEqual(judged(of(1.05), of(4.0), of(1.0)).verdict, v.MET)

    def test_the_first_region_and_the_processor_time_count(self):
        self.assertEqual(judged(of(1.0, first=16.0), of(1.0)).verdict, v.MISSED)
        self.assertEqual(judged(of(1.0, first=14.0), of(1.0)).verdict, v.MET)
        self.assertEqual(judged(of(1.0, cpu=1.3), of(1.0)).verdict, v.MISSED)

    def test_runs_that_do_not_end(self):
        self.assertEqual(judged({w.TIME: 1000.0}, of(1.0), late=[w.OURS]).verdict, v.MISSED)
        self.assertEqual(judged(of(2.0), {w.TIME: 1000.0}, of(2.0), late=["libgomp"]).better, "libomp")
        self.assertEqual(judged({w.TIME: 9.0}, {w.TIME: 9.0}, late=[w.OURS, "libgomp"]).verdict, v.ABSENT)

    def test_what_failed_or_was_not_measured(self):
        self.assertEqual(judged({}, of(1.0), failed=[w.OURS]).verdict, v.MISSED)
        self.assertEqual(judged(of(1.0), {}).verdict, v.ABSENT)


if __name__ == "__main__":
    unittest.main()
