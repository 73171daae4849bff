#!/usr/bin/python3
"""papers_test.py - the papers' figures: each says what it needs, those that measure programs of their own make
speed-ups of what the programs answer, and what they answer is drawn (where matplotlib is installed)."""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import papers


class FakePeer:
    """Answers for a program at once; a thread more makes it faster by as much."""

    def __init__(self, name, slower):
        self.name, self.label, self.slower = name, name, slower

    def run(self, command, seconds):
        command = [str(c) for c in command]
        threads = int(command[command.index("--threads") + 1])
        if self.slower is None:
            return "", "exit status 1"
        time = self.slower * 6 / threads
        return json.dumps({"seconds": time, "update_s": time}) + "\n", None


PEERS = [FakePeer("libgomp", 1), FakePeer("libomp", 2), FakePeer("broken", None)]


class Papers(unittest.TestCase):
    def setUp(self):
        self.a = argparse.Namespace(build=Path("."), rounds=2, minutes=8, seconds=40)
        self.figures = [importlib.import_module(name) for name in papers.FIGURES]

    def test_every_file_is_registered(self):
        there = {p.stem for p in (Path(papers.__file__).parent / "papers").glob("*.py")}
        self.assertEqual(there, set(papers.FIGURES))

    def test_every_figure_says_what_it_needs(self):
        for f in self.figures:
            self.assertTrue(f.PAPER and f.TITLE and f.SAID and f.PANELS and f.draw, f.__name__)
            self.assertTrue(hasattr(f, "NEEDS") or hasattr(f, "measure"), f.__name__)

    def test_speed_ups(self):
        nas = importlib.import_module("nthlib2004_figure3").measure(self.a, PEERS)
        self.assertEqual(nas["lu"]["4"], {"libgomp": [4, 4], "libomp": [2, 2]})
        figure5 = importlib.import_module("nthlib2004_figure5")
        figure5.make_input = lambda path: None
        pcure = figure5.measure(self.a, PEERS)
        self.assertEqual(pcure["4"]["tasks"], {"libgomp": [4, 4], "libomp": [2, 2]})

    def test_what_was_measured_is_told(self):
        values = {"8": {"barrier": {"libgomp": [4, 6, 5], "libomp": [3, 3], "psthreads": [1.5]}}}
        programs = {"figure": {"4": {"tasks": {"libgomp": [2.0], "psthreads": [3.0]}}, "8": {"tasks": {"libomp": []}}}}
        peers = [FakePeer(name, 1) for name in ("libgomp", "libomp", "psthreads")]
        lines = [line.split() for line in papers.text_of(values, programs, peers, "machine").splitlines()]
        self.assertIn(["8,", "barrier", "5.00", "3.00", "1.50", "2.00"], lines)
        self.assertIn(["4,", "tasks", "2.00", "-", "3.00", "1.50"], lines)

    def test_what_was_measured_is_drawn(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("python3-matplotlib is not installed")
        names = ["nthlib2004_figure3", "nthlib2004_figure5"]
        figures = [f for f in self.figures if f.__name__ in names]
        importlib.import_module("nthlib2004_figure5").make_input = lambda path: None
        found = {"machine": "none", "peers": {"libgomp": "libgomp", "libomp": "libomp"}, "values": {},
                 "programs": papers.measure_programs(self.a, figures, PEERS)}
        with tempfile.TemporaryDirectory(prefix="papers-") as folder:
            path = Path(folder) / "found.json"
            path.write_text(json.dumps(found))
            options = [o for name in names for o in ("--figure", name)]
            command = [papers.__file__, "--draw", path, "--out", folder, *options]
            subprocess.run(command, check=True, capture_output=True)
            self.assertGreater((Path(folder) / "nthlib-2004.png").stat().st_size, 10000)


if __name__ == "__main__":
    unittest.main()
