#!/usr/bin/env python3
"""stats_test.py REPORT MAKER FOLDER - psthreads-report stats: the numbers of recordings made by hand, the size of the
screen, and each advice where it is due, and only there."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from recordings import Recording

REPORT, MAKER, FOLDER = *sys.argv[1:3], Path(sys.argv[3])
MS = 1000000
STATES = ("runtime", "useful_state", "serial", "imbalance", "for_tasks", "for_locks", "outside", "parked")


class Run(Recording):
    """A run of `wall` ns on `vps` vps. Each code stands at an address of its own."""

    def __init__(self, wall=1000 * MS, vps=2, **head):
        super().__init__(tracks=vps + 1, num_vps=vps, num_processors=vps, keeps_events=0, **head)
        self.last = wall
        for code in range(1, 30):
            self.add(f"code {code} 40{code:04x} {code:x} /nowhere/p{code:02d}")

    def sums(self, track, code, **fields):
        for name, number in fields.items():
            self.add(f"sum {track} {code} {name} {int(number)}")


def stats(*runs, ended=True, options=()):
    files = [run.write(MAKER, FOLDER / f"{i}.recording", ended) for i, run in enumerate(runs)]
    done = subprocess.run([REPORT, "stats", *options, *files], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def numbers(*runs, **how):
    return json.loads(stats(*runs, options=("--json", "-"), **how))


class Numbers(unittest.TestCase):
    def test_efficiency(self):
        r = Run()
        r.sums(0, 0, serial=100 * MS)
        r.sums(1, 0, parked=100 * MS)
        r.sums(0, 1, useful_state=600 * MS, for_locks=200 * MS, runtime=100 * MS)
        r.sums(1, 1, useful_state=500 * MS, imbalance=300 * MS, outside=100 * MS)
        n = numbers(r)
        self.assertEqual((n["wall_s"], n["vps"], n["command"], n["pid"]), (1.0, 2, "./program a", 4711))
        self.assertEqual({k: round(1000 * v) for k, v in n["time"].items()},
                         {"useful_s": 1100, "serial_s": 100, "imbalance_s": 300, "locks_s": 200, "mpi_s": 100,
                          "runtime_s": 100, "parked_s": 100, "tasks_s": 0})
        e = n["efficiency"]
        for name, value in (("parallel", 1200 / 2000), ("serial_parts", 1900 / 2000), ("load_balance", 1600 / 1900),
                            ("serialisation", 1400 / 1600), ("communication", 1300 / 1400), ("runtime", 1200 / 1300)):
            self.assertAlmostEqual(e[name], value, 3)

    def test_rows(self):
        r = Run()
        r.sums(0, 1, regions=10, threads=20, inner=4, serialized=3, wall=500 * MS, loops=5, iterations=100,
               useful_state=400 * MS, imbalance=100 * MS)
        r.sums(1, 1, regions=10, threads=40, useful_state=500 * MS)
        r.sums(1, 2, created=60, tasks=50, task_ticks=5 * MS, useful_state=5 * MS)
        r.sums(0, 3, locks=1000, lock_waits=30, lock_ticks=2 * MS, lock_held=3 * MS, for_locks=2 * MS)
        for size, number in ((5, 10), (11, 20), (17, 19), (40, 1)):  # 2^5 ns and so on
            r.add(f"slot 0 task_sizes {size} {number}")
        r.add("slot 0 steals 1 7")
        r.add("slot 1 steals 8 2")
        r.add("track 0 parks 12")
        n = numbers(r)
        region, = n["regions"]
        self.assertEqual((region["place"], region["times"], region["threads"], region["inner"], region["one_thread"],
                          region["iterations"], region["wall_s"], region["useful_s"], region["imbalance_s"]),
                         ("p01+0x1", 20, 3, 4, 3, 100, 0.5, 0.9, 0.1))
        tasks = n["tasks"]
        self.assertEqual((tasks["number"], tasks["mean_ns"]), (50, 100000))
        self.assertEqual([s["number"] for s in tasks["sizes"]], [10, 20, 0, 19, 0, 1])
        self.assertEqual([s["below_ns"] for s in tasks["sizes"]], [10**i for i in range(3, 8)] + [None])
        self.assertEqual([(p["place"], p["made"], p["number"]) for p in tasks["places"]], [("p02+0x2", 60, 50)])
        self.assertEqual([(k["place"], k["taken"], k["waits"], k["waited_s"], k["held_s"]) for k in n["locks"]],
                         [("p03+0x3", 1000, 30, 0.002, 0.003)])
        self.assertEqual((n["steals"][1], n["steals"][8], sum(n["steals"]), n["parks"]), (7, 2, 9, 12))

    def test_several(self):
        """Processes are added up, and so are places that are the same in both."""
        runs = [Run(), Run(wall=500 * MS)]
        for r in runs:
            r.sums(0, 1, regions=1, threads=2, useful_state=400 * MS)
        n = numbers(*runs)
        self.assertEqual((n["processes"], n["vps"], n["wall_s"], n["regions"][0]["times"]), (2, 4, 1.0, 2))
        self.assertAlmostEqual(n["efficiency"]["parallel"], 800 / 3000, 4)
        self.assertIn("./program a (2 processes)", stats(*runs))

    def test_the_state_that_goes_on(self):
        """The program was killed: what a vp did last, it did to the end. A spare's sleep is no loss."""
        r = Run(vps=2)
        for track in (0, 1):
            r.add(f"track {track} last {Recording.BEGIN + 400 * MS}")
            r.add(f"track {track} code {track + 1}")
            r.add(f"track {track} state {(1, 3)[track]}")
        n = numbers(r, ended=False)
        self.assertEqual({k: v for k, v in n["time"].items() if v}, {"useful_s": 0.6, "imbalance_s": 0.6})
        self.assertIn("ended early", stats(r, ended=False))

    def test_several_roots(self):
        """What threads do outside of regions is not known then: it is neither work nor a loss."""
        r = Run()
        r.sums(0, 0, serial=900 * MS)
        r.sums(1, 0, serial=800 * MS)
        r.sums(1, 1, regions=1, threads=2, useful_state=150 * MS, imbalance=50 * MS)
        n = numbers(r)
        self.assertEqual((n["efficiency"]["parallel"], n["efficiency"]["load_balance"]), (0.75, 0.75))
        self.assertEqual([a for a in n["advice"] if a["rule"] == "serial-parts"], [])
        self.assertNotIn("serial parts", stats(r))

    def test_a_spare(self):
        r = Run(vps=2)
        r.sums(2, 0, parked=700 * MS)
        self.assertEqual(numbers(r)["time"]["parked_s"], 0)


class Screen(unittest.TestCase):
    def test_size(self):
        """Everything that may be shown, with large numbers."""
        r = Run(wall=10**13, vps=2, nested_off=1)
        for code in range(1, 30):
            r.sums(0, code, regions=10**9, threads=10**13, inner=10**8, serialized=10**6, wall=10**13, locks=10**10)
            r.sums(0, code, lock_waits=10**9, lock_ticks=10**12, lock_held=10**12, tasks=10**9, task_ticks=10**11)
            r.sums(0, code, longest=10**13, **{s: 10**11 for s in STATES})
        for size in range(64):
            r.add(f"slot 0 task_sizes {size} {10**9}")
        for distance in range(16):
            r.add(f"slot 0 steals {distance} {10**9}")
        lines = stats(r).split("\n")
        self.assertLessEqual(len(lines), 51)
        self.assertLessEqual(max(map(len, lines)), 80, lines)
        self.assertIn("and 22 more", lines)

    def test_head(self):
        """No control character of an argument reaches the terminal; numbers of one have no plural."""
        r = Run(vps=1)
        r.add("command ./program \x1b[31m \x7f")
        self.assertEqual(stats(r).split("\n")[:2],
                         ["./program ?[31m ? (process 4711)",
                          "1.00 s from the first region on, 1 virtual processor on 1 processor"])
        self.assertIn("4 virtual processors in all on 2 processors", stats(Run(), Run()))

    def test_nothing(self):
        text = stats(Run())
        for word in ("region  ", "lock  ", "tasks:", "advice", "nan"):
            self.assertNotIn(word, text)

    def test_options(self):
        done = subprocess.run([REPORT, "stats"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1))
        made = Run().write(MAKER, FOLDER / "0.recording")
        done = subprocess.run([REPORT, "stats", "--json", "/dev/full", made], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("still running", stats(Run(), ended=False, options=["--live"]))


def names_in(value):
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


class Documented(unittest.TestCase):
    def test_names(self):
        """Each name of the JSON, and each rule, stands in the documents."""
        page = (Path(__file__).resolve().parents[2] / "docs/seeing.md").read_text()
        r = Run()
        r.sums(0, 1, regions=1, tasks=1, locks=1)
        r.sums(0, 0, serial=900 * MS)
        sources = (Path(__file__).resolve().parents[2] / "src/report/advice.c").read_text()
        rules = re.findall(r'{"([a-z-]+)", \w+, \w+}', sources)
        self.assertEqual(len(rules), 8)
        for name in names_in(numbers(r)) | set(rules):
            self.assertIn(f"`{name}`", page)


class Advice(unittest.TestCase):
    def rules(self, run):
        found = numbers(run)["advice"]
        for advice in found:
            self.assertTrue(advice["text"].endswith("."), advice)
        return {a["rule"]: a for a in found if a["rule"] != "cpu-quota"}  # of the machine that runs the test

    def test_small_tasks(self):
        for mean, due in ((400, True), (5000, False)):
            r = Run()
            r.sums(0, 1, tasks=100000, task_ticks=mean * 100000, useful_state=mean * 100000)
            found = self.rules(r)
            self.assertEqual(list(found), ["small-tasks"] * due)
            if due:
                self.assertIn("p01+0x1 take 400 ns each, and there are 100 000", found["small-tasks"]["text"])

    def test_imbalance(self):
        for wait, due in ((400, True), (40, False)):
            r = Run()
            r.sums(0, 1, regions=10, threads=20, wall=900 * MS, useful_state=900 * MS, useful=(1800 - wait) * MS,
                   longest=1800 * MS)
            r.sums(1, 1, useful_state=(900 - wait) * MS, imbalance=wait * MS)
            found = self.rules(r)
            self.assertEqual(list(found), ["imbalance"] * due)
            if due:
                self.assertEqual(found["imbalance"]["number"], round(wait / 1800, 4))

    def test_imbalance_around_inner_regions(self):
        """Their work is in rows of their own, and is time of the outer region all the same."""
        r = Run()
        r.sums(0, 1, regions=1, threads=2, wall=900 * MS, useful=1300 * MS, longest=1800 * MS)
        r.sums(1, 1, imbalance=450 * MS)
        r.sums(0, 2, regions=100, threads=100, inner=100, serialized=100, wall=1300 * MS, useful_state=1300 * MS)
        self.assertEqual(self.rules(r)["imbalance"]["number"], 0.25)

    def test_a_late_start_is_no_imbalance(self):
        """Members have as much to do; one waits because the other began late. Nor does a short region or run tell."""
        for run, regions, longest in ((1000, 1, 900), (1000, 100000, 1800), (5, 1, 9)):
            r = Run(wall=run * MS)
            ms = run * MS / 1000
            r.sums(0, 1, regions=regions, threads=2 * regions, wall=900 * ms, useful_state=450 * ms,
                   useful=longest * ms / 2, longest=longest * ms)
            if longest == 900:
                r.sums(0, 1, useful=900 * ms)
            r.sums(1, 1, useful_state=450 * ms, imbalance=450 * ms)
            self.assertEqual([rule for rule in self.rules(r) if rule == "imbalance"], [])

    def test_long_names(self):
        """The sentence behind a name of thousands of characters is there."""
        r = Run()
        r.add(f"code 1 401000 1000 /nowhere/{'x' * 700}")
        r.sums(0, 1, locks=1000, lock_waits=900, lock_ticks=900 * MS, for_locks=900 * MS)
        text = self.rules(r)["lock"]["text"]
        self.assertTrue(text.endswith("a reduction."), text)
        self.assertRegex(text, r"of x{57}\.\.\.\. Hold")

    def test_tasks_are_no_imbalance(self):
        """One member makes tasks and the others wait for them in the barrier, where they run them."""
        r = Run()
        r.sums(0, 1, regions=1, threads=2, wall=900 * MS, useful_state=20 * MS, useful=20 * MS, longest=40 * MS)
        r.sums(1, 1, imbalance=200 * MS)
        r.sums(1, 2, tasks=1000, task_ticks=600 * MS, useful_state=600 * MS)
        self.assertEqual(self.rules(r), {})

    def test_lock(self):
        for wait, due in ((300, True), (30, False)):
            r = Run()
            r.sums(0, 1, locks=1000, lock_waits=900, lock_ticks=wait * MS, for_locks=wait * MS)
            self.assertEqual(list(self.rules(r)), ["lock"] * due)

    def test_nesting_off(self):
        for off in (1, 0):
            r = Run(nested_off=off)
            r.sums(0, 1, regions=100, threads=100, inner=100, serialized=100, wall=600 * MS, useful_state=600 * MS)
            r.sums(1, 0, parked=600 * MS)
            self.assertEqual(list(self.rules(r)), ["nesting-off"] * off)

    def test_inner_and_short(self):
        for inner, rule in ((10000, "inner-costs"), (0, "short-regions")):
            for lasts, due in ((5000, True), (500000, False)):
                r = Run()
                r.sums(0, 1, regions=10000, threads=20000, inner=inner, wall=10000 * lasts, useful_state=100 * MS,
                       runtime=300 * MS)
                self.assertEqual(list(self.rules(r)), [rule] * due)

    def test_serial_parts(self):
        for serial, due in ((700, True), (100, False)):
            r = Run()
            r.sums(0, 0, serial=serial * MS)
            self.assertEqual(list(self.rules(r)), ["serial-parts"] * due)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
