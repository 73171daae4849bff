#!/usr/bin/env python3
"""timeline_test.py REPORT MAKER CC FOLDER - psthreads-report pftrace, on recordings made by hand. The timelines are
read by Perfetto's own definitions (PyPI: perfetto), which `make python` installs in the build. Without them the test is
skipped."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

try:
    from timeline import Timeline
except ImportError:
    venv = Path(sys.argv[4]).resolve().parents[2] / "python/venv/bin/python"
    if venv.exists() and sys.executable != str(venv):
        os.execv(venv, [str(venv), *sys.argv])
    print("skipped: no Python package perfetto (make python installs it)")
    sys.exit(77)
from recordings import Recording, task

REPORT, MAKER, CC, FOLDER = *sys.argv[1:4], Path(sys.argv[4])
SHIFT = Recording.BEGIN + 500  # of the nanoseconds that a timeline has


def timeline_of(recording, ended=True, told=""):
    made = recording.write(MAKER, FOLDER / "a.recording", ended)
    out = FOLDER / "a.pftrace"
    done = subprocess.run([REPORT, "pftrace", made, "-o", out], capture_output=True, text=True)
    assert done.returncode == 0, done
    assert told in done.stderr and (told or not done.stderr), done
    return Timeline(out)


def times(events):
    return [(e.track, e.start - SHIFT, e.end - SHIFT) for e in events]


INITIAL, REGION = task(1), task(2, code=1)
MEMBERS = [task(10), task(11), task(12)]


class Shown(unittest.TestCase):
    def check(self, timeline):
        self.assertEqual(timeline.problems, [])
        return timeline

    def test_region(self):
        r = Recording()
        r.add("code 1 401000 1000 /nowhere/lib.so")
        r.event(0, 100, "REGION_BEGIN", REGION, INITIAL, number=2)
        r.event(0, 110, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(1, 120, "MEMBER_BEGIN", MEMBERS[1], REGION, number=1)
        r.event(0, 130, "WORK_BEGIN", MEMBERS[0], task(0, code=1), number=50, sub=11)
        r.event(0, 200, "WORK_END", MEMBERS[0], task(0, code=1), number=50, sub=11)
        r.event(0, 200, "WAIT_BEGIN", MEMBERS[0], sub="REC_WAIT_JOIN")
        r.event(1, 300, "MEMBER_END", MEMBERS[1], REGION)
        r.event(0, 310, "WAIT_END", MEMBERS[0], sub="REC_WAIT_JOIN")
        r.event(0, 320, "MEMBER_END", MEMBERS[0], REGION)
        r.event(0, 330, "REGION_END", REGION, INITIAL)
        r.event(1, 340, "PARK", 0)
        r.event(1, 400, "UNPARK", 0)
        t = self.check(timeline_of(r))
        self.assertEqual(list(t.tracks.values()), ["vp 0 (main)", "vp 1", "watchdog"])
        region, = t.of("region")
        self.assertEqual((region.name, region.depth), ("parallel lib.so+0x1000", 0))
        self.assertEqual(times([region]), [("vp 0 (main)", 100, 330)])
        self.assertEqual([m.name for m in t.of("member")], ["lib.so+0x1000 [0/2]", "lib.so+0x1000 [1/2]"])
        self.assertEqual(times(t.of("member")), [("vp 0 (main)", 110, 320), ("vp 1", 120, 300)])
        self.assertEqual(t.of("member")[1].notes["region"], REGION)
        self.assertEqual(times(t.of("wait")), [("vp 0 (main)", 200, 310)])
        loop, = t.of("loop")
        self.assertEqual((loop.name, loop.notes["iterations"], loop.depth),
                         ("dynamic loop lib.so+0x1000", 50, 2))
        self.assertEqual(times(t.of("sched")), [("vp 1", 340, 400)])
        facts = t.facts()
        self.assertEqual((facts["events"], facts["lost"], facts["vps"], facts["wall_ns"], facts["command"]),
                         (12, 0, 2, 400, "./program a"))

    def test_a_thread_that_moves(self):
        """Member 0 waits at a barrier on vp 0, member 2 runs there meanwhile, and member 0 goes on on vp 1."""
        r = Recording()
        r.event(0, 100, "REGION_BEGIN", REGION, INITIAL, number=3)
        r.event(0, 110, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(0, 200, "WAIT_BEGIN", MEMBERS[0], sub="REC_WAIT_BARRIER")
        r.event(0, 220, "MEMBER_BEGIN", MEMBERS[2], REGION, number=2)
        r.event(1, 300, "WAIT_END", MEMBERS[0], sub="REC_WAIT_BARRIER")
        r.event(0, 350, "MEMBER_END", MEMBERS[2], REGION)
        r.event(1, 400, "MEMBER_END", MEMBERS[0], REGION)
        r.event(1, 410, "REGION_END", REGION, INITIAL)
        t = self.check(timeline_of(r))
        self.assertEqual(times(t.of("wait", resumed=True)), [("vp 0 (main)", 200, 220)])
        self.assertEqual(times(t.of("region", resumed=True)), [("vp 0 (main)", 100, 220), ("vp 1", 300, 410)])
        first, other, again = t.of("member", resumed=True)
        self.assertEqual(times([first, other, again]),
                         [("vp 0 (main)", 110, 220), ("vp 0 (main)", 220, 350), ("vp 1", 300, 400)])
        self.assertEqual([m.notes.get("resumed") for m in (first, other, again)], [None, None, True])
        self.assertEqual(again.notes["id"], first.notes["id"])

    def test_what_is_open_at_the_end(self):
        """The program was killed. Then the oldest event of a full ring is not believed; this ring is not full."""
        r = Recording()
        r.event(0, 100, "REGION_BEGIN", REGION, INITIAL, number=1)
        r.event(0, 110, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(1, 500, "PARK", 0)
        t = self.check(timeline_of(r, ended=False))
        self.assertEqual([s.end - SHIFT for s in t.slices], [500] * 3)

    def test_tasks_and_arrows(self):
        r = Recording()
        r.add("code 3 401000 1000 /nowhere/lib.so")
        a, b, lost, waits = (task(20 + i, code=3) for i in range(4))
        r.event(0, 100, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(1, 100, "MEMBER_BEGIN", MEMBERS[1], REGION, number=1)
        r.event(0, 110, "TASK_CREATE", a, MEMBERS[0])
        r.event(0, 120, "TASK_CREATE", b, MEMBERS[0])
        r.event(0, 121, "DEPENDENCE", a, b)
        r.event(0, 130, "TASK_CREATE", waits, MEMBERS[0])  # never begins
        r.event(0, 131, "DEPENDENCE", a, waits)
        r.event(1, 140, "TASK_BEGIN", a, MEMBERS[1])
        r.event(1, 200, "TASK_END", a, MEMBERS[1], sub=1)
        r.event(1, 210, "TASK_BEGIN", lost, MEMBERS[1])  # its making is not in the recording
        r.event(0, 220, "TASK_BEGIN", b, MEMBERS[0])
        r.event(1, 230, "TASK_END", lost, MEMBERS[1], sub=1)
        r.event(0, 300, "TASK_END", b, MEMBERS[0], sub=1)
        t = self.check(timeline_of(r))
        self.assertEqual({s.name for s in t.of("task")}, {"task lib.so+0x1000"})
        self.assertEqual(times(t.of("task")), [("vp 1", 140, 200), ("vp 1", 210, 230), ("vp 0 (main)", 220, 300)])
        self.assertEqual([i.name for i in t.instants][:3], ["create task lib.so+0x1000"] * 3)
        slices = {s.notes["id"]: s for s in t.of("task")}
        self.assertEqual(sorted((f.start - SHIFT, to.notes["id"]) for f, to in t.arrows.values()),
                         [(110, a), (120, b), (140, b)])
        self.assertIn([slices[a], slices[b]], list(t.arrows.values()))

    def test_a_task_within_a_wait(self):
        """A task runs on the stack of the member that waits, also where the member has moved."""
        r = Recording()
        a = task(20)
        r.event(0, 100, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(0, 110, "WAIT_BEGIN", MEMBERS[0], sub="REC_WAIT_TASKWAIT")
        r.event(1, 120, "TASK_BEGIN", a, MEMBERS[0])
        r.event(1, 130, "TASK_END", a, MEMBERS[0])
        r.event(1, 140, "WAIT_END", MEMBERS[0], sub="REC_WAIT_TASKWAIT")
        r.event(1, 150, "MEMBER_END", MEMBERS[0], REGION)
        t = self.check(timeline_of(r))
        ran, = t.of("task")
        self.assertEqual((times([ran]), ran.depth), ([("vp 1", 120, 130)], 2))

    def test_a_vp_that_sleeps_in_a_wait(self):
        r = Recording()
        r.event(0, 100, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(0, 110, "WAIT_BEGIN", MEMBERS[0], sub="REC_WAIT_JOIN")
        r.event(0, 120, "PARK", 0, sub=1)
        r.event(0, 180, "UNPARK", 0)
        r.event(0, 190, "WAIT_END", MEMBERS[0], sub="REC_WAIT_JOIN")
        r.event(0, 200, "MEMBER_END", MEMBERS[0], REGION)
        t = self.check(timeline_of(r))
        self.assertEqual((times(t.of("wait")), t.of("sched")), ([("vp 0 (main)", 110, 190)], []))

    def test_a_task_that_is_one_event(self):
        r = Recording()
        a = task(20)
        r.event(0, 100, "MEMBER_BEGIN", MEMBERS[0], REGION, number=0)
        r.event(0, 110, "TASK_RUN", a, MEMBERS[0], number=40)
        r.event(1, 120, "STEAL", 0)
        r.event(0, 200, "MEMBER_END", MEMBERS[0], REGION)
        t = self.check(timeline_of(r))
        self.assertEqual([(times([s])[0], s.depth) for s in t.of("task")], [(("vp 0 (main)", 110, 150), 1)])
        self.assertEqual(t.facts()["events"], 4, "as psrun counts")

    def test_the_scheduler(self):
        r = Recording()
        r.event(1, 100, "STEAL", 0, vp=7, sub=2)
        r.event(0, 110, "ROOT_LEAVES", 0, vp=0)
        r.event(2, 120, "STALL", 9000000, vp=1)
        t = self.check(timeline_of(r))
        steal, root, stall = (i for i in t.instants if i.category == "sched")
        self.assertEqual((steal.name, steal.notes), ("steal", {"victim": 7, "distance": 2}))
        self.assertEqual((root.name, root.notes), ("root leaves", {"vp": 0}))
        self.assertEqual((stall.name, stall.track, stall.notes), ("stall", "watchdog", {"vp": 1, "ms": 9}))

    def test_the_oldest_go(self):
        for ended, there in ((True, 8), (False, 7)):
            r = Recording(rings=2, events=4)
            for i in range(100):
                r.event(0, 100 + i, "STEAL", 0, vp=i)
            t = self.check(timeline_of(r, ended))
            self.assertEqual([i.notes["victim"] for i in t.instants if i.name == "steal"],
                             list(range(100 - there, 100)))
            self.assertEqual((t.facts()["events"], t.facts()["lost"]), (there, 100 - there))

    def test_places(self):
        source = FOLDER / "place.c"
        source.write_text("int first(int a)\n{\n    return a + 1;\n}\n")
        for kind, name, without in (("-g", "place.c:2", ".none"), ("-g", "place.c:2", ".debug_aranges"),
                                    ("-s", "first", ".none")):
            library = FOLDER / f"place{kind}{without}.so"
            subprocess.run([CC, "-shared", "-fPIC", kind, source, "-o", library], check=True)
            subprocess.run(["objcopy", "--remove-section", without, library], check=True)
            symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
            address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" first"))
            r = Recording()
            r.add(f"code 1 401000 {address + 1:x} {library}")
            r.event(0, 100, "REGION_BEGIN", REGION, INITIAL, number=1)
            region, = self.check(timeline_of(r)).of("region")
            self.assertEqual(region.name, "parallel " + name)
            self.assertEqual(region.place, (str(source) if kind == "-g" else "", 2 * (kind == "-g"), "first"))

    def test_names_of_cxx(self):
        """Without source lines functions have their names, without types of what they take and answer."""
        names = {"_ZN12_GLOBAL__N_16insideEv": "(anonymous namespace)::inside",
                 "_ZN12_GLOBAL__N_16insideEv._omp_fn.0": "(anonymous namespace)::inside",
                 "_ZNK12_GLOBAL__N_12OpclEi": "(anonymous namespace)::Op::operator()",
                 "_ZN5named2fnIdEET_S1_": "named::fn<double>",
                 "_ZN5named2fnISt6vectorIiSaIiEEEEvPFvvET_": "named::fn<std::vector<int, std::allocator<int> > >",
                 "_ZZ4mainENKUliE_clEi": "main::{lambda(int)#1}::operator()",
                 "_ZNK1AcvmEv": "A::operator unsigned long", "_ZlsIiEvR1AT_": "operator<< <int>",
                 "_ZN1AptEv": "A::operator->", "_Z10myoperatori": "myoperator", "plain": "plain",
                 "_ZN1A12_GLOBAL__N_13varE": "A::(anonymous namespace)::var"}
        source, library = FOLDER / "cxx.c", FOLDER / "cxx.so"
        source.write_text("".join(f'int f{i}(void) __asm__("{symbol}");\nint f{i}(void)\n{{\n    return {i};\n}}\n'
                                  for i, symbol in enumerate(names)))
        subprocess.run([CC, "-shared", "-fPIC", source, "-o", library], check=True)
        symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
        at = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
        for symbol, name in names.items():
            r = Recording()
            r.add(f"code 1 401000 {at[symbol] + 1:x} {library}")
            r.event(0, 100, "REGION_BEGIN", REGION, INITIAL, number=1)
            region, = self.check(timeline_of(r)).of("region")
            if region.name.endswith("insideEv"):
                self.skipTest("no libstdc++, which knows C++'s names")
            self.assertEqual(region.name, "parallel " + name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
