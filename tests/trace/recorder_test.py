#!/usr/bin/env python3
"""recorder_test.py BUILD WORK PROGRAM THROWS - recordings have what programs did: numbers of regions, members, tasks,
waits, locks and loops; times that rise; the newest events where not all fit; each process its own."""

import os
import sys

from place import Place
from recording import KIND, NAME, SIZES, WAIT

BUILD, WORK, PROGRAM, THROWS = sys.argv[1:5]
ENTITIES = ["psthreads"] + (["pthreads"] if os.path.exists(f"{BUILD}/lib/dropin-pthreads") else [])
place = Place(BUILD, WORK)
entities = None


def trace(*program, options=(), variables=None, status=0):
    return place.trace(*program, options=("--ee", entities, *options), variables={
        "PSTHREADS_NUM_VPS": "2", "OMP_MAX_ACTIVE_LEVELS": "4", **(variables or {})}, status=status)


def begins(r):
    """Tasks that were begun."""
    return r.count("TASK_BEGIN") + r.count("TASK_RUN")


def ends(r):
    return r.count("TASK_END") + r.count("TASK_RUN")


def is_sound(r):
    """What holds for every recording."""
    assert r.begin_ticks < r.now_ticks and r.begin_ns < r.now_ns
    made, begun, at_once = set(), {}, 0
    for track in r.tracks.values():
        last = 0
        for e in track.events():
            assert last <= e.time, (track.number, e)
            assert e.kind in NAME and e.kind not in (KIND["NONE"], KIND["KINDS"]), e
            last = e.time
    if r.lost:
        return
    for _, e in r.events("TASK_CREATE"):
        assert e.id not in made, e
        made.add(e.id)
    for _, e in r.events("TASK_BEGIN", "TASK_RUN"):
        assert e.id not in begun, e
        begun[e.id] = e
        at_once += e.id not in made
    regions = {e.id for _, e in r.events("REGION_BEGIN")}
    members = [e for _, e in r.events("MEMBER_BEGIN")]
    names = {os.path.basename(r.code(region >> 44)[1]) for region in regions}
    assert names <= {os.path.basename(PROGRAM), os.path.basename(THROWS)}, names
    assert all(e.other in regions for e in members)
    assert len({e.id for e in members}) == len(members)
    assert sum(sum(t.task_sizes) for t in r.tracks.values()) == r.sum("tasks") == ends(r)
    assert r.sum("created") == len(made) + at_once


def tasks():
    n = 200
    out, (r,) = trace(PROGRAM, "tasks", n)
    is_sound(r)
    own = sorted(int(line.split()[1]) for line in out.splitlines())
    assert begins(r) == ends(r) == r.sum("tasks") == n
    begun, slices = {}, []
    for _, e in r.events("TASK_RUN", "TASK_BEGIN", "TASK_END"):
        if e.kind == KIND["TASK_RUN"]:
            slices.append(e.number)
        else:
            begun[e.id] = abs(begun.get(e.id, 0) - e.time)
    slices = sorted((ticks * r.ns_per_tick for ticks in [*slices, *begun.values()]))
    # A task that was preempted between its own looks at the clock and the recorder's counts for nothing.
    more = sorted(b - a for a, b in zip(own, slices))
    assert sum(more[:n * 9 // 10]) <= sum(own) / 100, (more, own)
    assert slices[0] * 1.01 >= own[0], (slices[0], own[0])
    # The sums have the same: what was done in tasks, by size.
    place_of_tasks = max((s for t in r.tracks.values() for s in t.sums), key=lambda c: sum(
        t.sums[c]["tasks"] for t in r.tracks.values() if c in t.sums))
    assert r.sum("task_ticks") * r.ns_per_tick >= sum(own) * 0.99
    assert r.code(place_of_tasks)[1].endswith("/" + os.path.basename(PROGRAM))
    small = int(500000 / r.ns_per_tick * 0.99).bit_length() - 1
    assert all(sum(t.task_sizes[:small]) == 0 for t in r.tracks.values()), SIZES


def regions():
    _, (r,) = trace(PROGRAM, "regions", 20)
    is_sound(r)
    assert r.count("REGION_BEGIN") == r.count("REGION_END") == r.sum("regions") == 20 + 60
    assert r.count("MEMBER_BEGIN") == r.count("MEMBER_END") == r.sum("threads") == 60 + 120
    assert r.sum("inner") == 60
    assert r.count("WAIT_BEGIN", WAIT["BARRIER"]) == r.count("WAIT_END", WAIT["BARRIER"]) == 60
    assert r.count("WAIT_BEGIN", WAIT["JOIN"]) == r.count("WAIT_END", WAIT["JOIN"]) == 60 + 120
    assert r.nested_off == 0
    assert r.ended_ticks
    assert r.command.endswith("regions 20"), r.command


def uneven():
    """A long wait is a wait to its end, though the vp sleeps meanwhile."""
    _, (r,) = trace(PROGRAM, "uneven", 100)
    is_sound(r)
    begun = {e.id: e.time for _, e in r.events("WAIT_BEGIN")}
    waited = sum(e.time - begun[e.id] for _, e in r.events("WAIT_END"))
    assert 0.9 * waited < r.state("IMBALANCE") < 1.1 * waited, (waited, r.state("IMBALANCE"), r.state("PARKED"))


def nested_off():
    _, (r,) = trace(PROGRAM, "regions", 3, variables={"OMP_MAX_ACTIVE_LEVELS": "1"})
    is_sound(r)
    assert r.sum("serialized") == r.sum("inner") == 9
    assert r.nested_off == 1


def tree():
    _, (r,) = trace(PROGRAM, "tree", 8)
    is_sound(r)
    assert begins(r) == ends(r) == 2 ** 9 - 2
    assert r.count("WAIT_BEGIN", WAIT["TASKWAIT"]) == r.count("WAIT_END", WAIT["TASKWAIT"]) == 2 ** 8 - 1


def locks():
    _, (r,) = trace(PROGRAM, "locks", 50)
    is_sound(r)
    for wait in (WAIT["LOCK"], WAIT["CRITICAL"]):
        assert r.count("WAIT_BEGIN", wait) == r.count("WAIT_END", wait)
        assert r.count("LOCK_HELD", wait) + r.count("WAIT_END", wait) == r.count("LOCK_FREE", wait) == 150
    assert r.sum("locks") == 300


def dependences():
    _, (r,) = trace(PROGRAM, "dependences", 30)
    is_sound(r)
    made = {e.id for _, e in r.events("TASK_CREATE")}
    assert len(made) == 30
    arrows = [e for _, e in r.events("DEPENDENCE")]
    assert len(arrows) == 29 and all(e.id in made and e.other in made for e in arrows)


def loops():
    _, (r,) = trace(PROGRAM, "loops", 20)
    is_sound(r)
    assert r.count("WORK_BEGIN") == r.count("WORK_END") == 20 * (2 + 1) # two members of the loop, one of the single
    assert (r.sum("loops"), r.sum("iterations")) == (20, 200)

    def codes(name):
        return {code for t in r.tracks.values() for code, sums in t.sums.items() if sums[name]}
    assert codes("loops") == codes("regions")


def foreign():
    _, (r,) = trace(PROGRAM, "foreign", 40)
    is_sound(r)
    assert r.count("REGION_BEGIN") == r.count("REGION_END") == 40
    assert r.count("MEMBER_BEGIN") == r.count("MEMBER_END") == 80


def forks():
    out, found = trace(PROGRAM, "forks", 5)
    children = [int(line.split()[1]) for line in out.splitlines() if line.startswith("child")]
    parent = found[0]
    for r in found:
        is_sound(r)
    assert parent.count("REGION_BEGIN") == 2 * 20
    assert sorted(r.pid for r in found[1:]) == sorted(children)
    for r in found[1:]:
        assert r.parent_pid == parent.pid and r.count("REGION_BEGIN") == r.count("REGION_END") == 20


def executes():
    _, found = trace(PROGRAM, "exec", 5)
    assert len(found) == 2 and found[0].pid == found[1].pid
    for r in found:
        is_sound(r)
        assert r.count("REGION_BEGIN") == 20
    assert not found[0].ended_ticks and found[1].ended_ticks


def throws():
    out, (r,) = trace(THROWS, 100)
    is_sound(r)
    assert out == "caught 50\n" and ends(r) == 100


def signals():
    for mode in ("short_tasks", "signals"):
        out, (r,) = trace(PROGRAM, mode, 20000)
        is_sound(r)
        assert out == "wrong 0\n" and ends(r) == 20000, out


def endings():
    for how, status in (("kill", -9), ("abort", -6), ("_exit", 7), ("quick_exit", 7)):
        _, (r,) = trace(PROGRAM, how, 100, status=status)
        is_sound(r)
        assert ends(r) == 100 and r.count("REGION_BEGIN") == 1 and r.count("REGION_END") == 0
        assert not r.ended_ticks


def oldest_go():
    _, (r,) = trace(PROGRAM, "short_tasks", 20000, options=("--trace-limit", "64K"))
    is_sound(r)
    kept = sum(1 for _ in r.events())
    assert kept * 32 <= 64 << 10 and r.lost > 0 and r.segments_refused
    assert kept + r.lost == sum(t.written for t in r.tracks.values())
    assert r.sum("tasks") == 20000
    ended = [e for _, e in r.events("REGION_END")]
    assert len(ended) == 1, "the newest events are there"
    assert "older events are not in it" in place.said, place.said


def file_limit():
    """The system refuses a longer file, by a signal."""
    import resource
    for limit in (1 << 21, 4096):
        ran = place.run("--ee", entities, "--trace", "t.rec", PROGRAM, "short_tasks", 100000, preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        assert ran.returncode == 0 and ran.stdout == "wrong 0\n", ran
        no_room = "older events are not in it (the disk is full, or files may not be longer: ulimit -f)"
        assert (no_room if limit > 4096 else "File too large; the program runs without a recording") in ran.stderr, ran


def main():
    global entities
    for entities in ENTITIES:
        for test in (tasks, regions, uneven, nested_off, tree, locks, dependences, loops, foreign, forks, executes,
                     throws, signals, endings, oldest_go, file_limit):
            print(entities, test.__name__, flush=True)
            test()


main()
