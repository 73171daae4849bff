#!/usr/bin/python3
"""owners.py OWN-FOLDER OUR-FOLDER PROGRAM KIND - every query of queries.c under every environment below, answered as by
the runtime that the program was built for.

KIND is gnu (built by GCC, libgomp is the owner) or llvm (built by clang, libomp). Each row is a variable with values,
as its owner's users write them, and as they write them wrongly. What is compared: every answer on standard output, the
exit status, and whether something was said on standard error (texts are our own; libomp's line for what is deprecated
is left out). What differs on purpose is in OTHERWISE, with the reason; an entry that no longer differs is an error
too."""

import os
import re
import subprocess
import sys

BOOLEANS = ["true", "false", "TRUE", "False", "1", "0", "yes", "no", "on", "off", "T", "F", "t", "f", ".true.",
            ".false.", ".T.", "enabled", "disabled", " true ", "2", "maybe", ""]
NUMBERS = ["1", "3", "0", "-1", "300", " 2 ", "2x", "many", "99999999999999999999", ""]
SIZES = ["1M", "300", "65536B", "64k", "2 m", "1g", "1t", "8Q", "none", "-5", "10", "0", ""]
VALUES = {
    "OMP_NUM_THREADS": [*NUMBERS, "4,", "4,3", "4,3,2", "4, 3", "4,,2", ",4", "4;3", "4,x", "0,2", "2,0"],
    "OMP_DYNAMIC": BOOLEANS,
    "OMP_NESTED": BOOLEANS,
    "OMP_CANCELLATION": BOOLEANS,
    "OMP_MAX_ACTIVE_LEVELS": NUMBERS,
    "OMP_THREAD_LIMIT": NUMBERS,
    "OMP_TEAMS_THREAD_LIMIT": NUMBERS,
    "OMP_NUM_TEAMS": NUMBERS,
    "OMP_MAX_TASK_PRIORITY": NUMBERS,
    "OMP_DEFAULT_DEVICE": ["0", "3", "-1", "x", ""],
    "OMP_SCHEDULE": ["static", "dynamic", "guided", "auto", "STATIC", "static,5", "dynamic,4", "dynamic, 4", "guided,0",
                     "dynamic,-3", "auto,3", "monotonic:dynamic",
                     "nonmonotonic:dynamic,3", "monotonic:static", "nonmonotonic:static", "simd:static", "trapezoidal",
                     "dynamic,", "runtime", "often", ""],
    "OMP_PROC_BIND": ["true", "false", "TRUE", "primary", "master", "close", "spread", "close,spread", "spread, close",
                      "1", "0", "far", "close,far", ""],
    "OMP_PLACES": ["threads", "cores", "sockets", "ll_caches", "numa_domains", "threads(1)", "cores(9)", "{0},{1}",
                   "{0:2}", "{0}", "{0,1}", "{0}:2", "{1}:2:-1", "0,1", "{99}",
                   "{0},{99}", "sockets(", "{0", "nowhere", ""],
    "OMP_STACKSIZE": SIZES,
    "OMP_WAIT_POLICY": ["active", "passive", "ACTIVE", "acti", "active ", " active", "busy", ""],
    "OMP_TARGET_OFFLOAD": ["mandatory", "disabled", "default", "DISABLED", "never", ""],
    "OMP_ALLOCATOR": ["omp_default_mem_alloc", "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc", "7", "1", "nothing",
                      ""],
    "OMP_TOOL": ["enabled", "disabled"],
    "KMP_DEVICE_THREAD_LIMIT": NUMBERS,
    "KMP_ALL_THREADS": NUMBERS,
    "KMP_TEAMS_THREAD_LIMIT": NUMBERS,
    "KMP_LIBRARY": ["serial", "turnaround", "throughput", "SERIAL", "turn", "through", "s", "serial ", "dedicated",
                    "multiuser", "fast", ""],
    "KMP_BLOCKTIME": ["0", "7", "200", "infinite", "5us", "3ms", "2s", "-5", "x", ""],
    "KMP_STACKSIZE": SIZES,
    "KMP_AFFINITY": ["none", "compact", "scatter", "balanced", "disabled", "granularity=fine,compact",
                     "explicit,proclist=[1,0]", "granularity=fine,scatter", "norespect", "norespect,compact",
                     "compact,", "proclist=[0,1]", "granularity=fine,proclist=[0-1],explicit", "compact,none",
                     "disabled,compact", "tight", ""],
    "KMP_HW_SUBSET": ["1c", "1s,1c", "2c,1t", "1t", "1 c", "1c, 1t", "1c ,1t", "9c", "x", ""],
    "KMP_PLACE_THREADS": ["1c", "1c,1t"],
    "KMP_DETERMINISTIC_REDUCTION": ["true", "1", "x"],
    "KMP_WARNINGS": ["0", "off", "true", "x"],
    "GOMP_CPU_AFFINITY": ["0", "0 1", "1,0", "0-1", "x", ""],
    "GOMP_STACKSIZE": SIZES,
    "GOMP_SPINCOUNT": ["10", "infinite", "5k", "x", ""],
}
# Where two variables say something about the same, each alone is set and unset in the rows above; here both.
TOGETHER = [
    {"OMP_THREAD_LIMIT": "5", "KMP_DEVICE_THREAD_LIMIT": "3"}, {"OMP_THREAD_LIMIT": "3", "KMP_ALL_THREADS": "5"},
    {"KMP_DEVICE_THREAD_LIMIT": "3", "KMP_ALL_THREADS": "5"},
    {"KMP_DEVICE_THREAD_LIMIT": "5", "KMP_ALL_THREADS": "3"},
    {"OMP_TEAMS_THREAD_LIMIT": "1", "KMP_TEAMS_THREAD_LIMIT": "3"},
    {"KMP_TEAMS_THREAD_LIMIT": "1", "OMP_TEAMS_THREAD_LIMIT": "3"}, {"KMP_LIBRARY": "serial", "OMP_NUM_THREADS": "4"},
    {"KMP_LIBRARY": "turnaround", "OMP_WAIT_POLICY": "passive"},
    {"KMP_BLOCKTIME": "3", "OMP_WAIT_POLICY": "active"}, {"OMP_STACKSIZE": "1M", "KMP_STACKSIZE": "2M"},
    {"OMP_STACKSIZE": "1M", "GOMP_STACKSIZE": "2M"},
    {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}, {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"},
    {"OMP_PLACES": "threads", "OMP_PROC_BIND": "close,spread"},
    {"OMP_PLACES": "cores", "OMP_PROC_BIND": "false"}, {"OMP_PLACES": "{0},{1}", "OMP_PROC_BIND": "primary"},
    {"OMP_PLACES": "{0},{1}", "OMP_PROC_BIND": "true"},
    {"OMP_PLACES": "cores", "KMP_AFFINITY": "scatter"}, {"OMP_PROC_BIND": "close", "KMP_AFFINITY": "compact"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "2"},
    {"OMP_NESTED": "x", "OMP_MAX_ACTIVE_LEVELS": "2"}, {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "0"},
    {"KMP_HW_SUBSET": "1c", "KMP_PLACE_THREADS": "2c"},
    {"OMP_NUM_THREADS": "4,3", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_NUM_THREADS": "8", "OMP_DYNAMIC": "true"},
    {"OMP_NUM_THREADS": "8", "OMP_THREAD_LIMIT": "3"},
    {"GOMP_CPU_AFFINITY": "1 0", "OMP_PLACES": "{0}"}, {"GOMP_CPU_AFFINITY": "1 0", "OMP_PROC_BIND": "false"},
]
PARTS = {"gnu": ["set", "pause"], "llvm": ["set", "kmp", "pause", "error"]}
KINDS = {"gnu": ("OMP_", "GOMP_", "KMP_"), "llvm": ("OMP_", "KMP_", "GOMP_CPU_AFFINITY")}

# (settings, difference, why); regular expressions. Why begins with MAY where the machine decides whether they differ.
MAY = "on some processors: "
EMPTY = ("=''", "", "a variable that is set to nothing counts as not set, in silence")
OTHERWISE = {
    "gnu": [
        EMPTY,
        ("OMP_SCHEDULE='dynamic,-3'", "", "libgomp takes a negative chunk"),
        (r"OMP_PLACES='\{0\},\{99\}'", "", "what is left of the list counts"),
        ("STACKSIZE='1t'", "says", "a unit more"),
        ("OMP_TARGET_OFFLOAD='mandatory'", "omp_get_default_device", "OpenMP 5.2, and newer libgomps: no device"),
    ],
    "llvm": [
        EMPTY,
        ("OMP_NUM_THREADS='(-1|2x|many|9{20}|4;3|4,x)'", "",
         "libomp ends the program; here it goes on as if nothing were set"),
        ("STACKSIZE='1t'", "", "libomp ends the program where no thread can be made"),
        ("OMP_MAX_ACTIVE_LEVELS='9{20}'", "nested|active_levels",
         "libomp takes what is too large for not given; here it is the most there can be"),
        ("LIMIT=|KMP_ALL_THREADS=|OMP_NUM_THREADS='300'", r"says \['OMP: Warning #96",
         "a team that the program's own limit makes smaller is no news"),
        (r"^set$", "Warning #97", "a negative number of levels is ignored in silence, as libgomp does"),
        ("PLACES=|BIND=|AFFINITY=", "'bound ",
         "libomp leaves members of a region bound to primary where the region before had them"),
        ("OMP_PROC_BIND='close,far'", "", "libomp counts the policies before it reads them"),
        ("OMP_PLACES='ll_caches'", "place|partition|affinity",
         MAY + "libomp knows no caches where the processor does not tell of them"),
        (r"OMP_PLACES='\{99\}'", "place|partition|affinity|bound", "cores as for any other list that cannot be used"),
        ("OMP_ALLOCATOR='omp_(high_bw|low_lat)", "", "these are to be had here"),
        ("KMP_AFFINITY='balanced'", "affinity|place_num|says",
         "libomp binds these to cores and tells no places; here they are places"),
        ("KMP_HW_SUBSET='9c'", "says", "more than there is: said"),
        ("kmp$", "kmp_get_stacksize_s", "a size counts for the stacks that are made later"),
        ("kmp$", "omp_get_place_num", "a thread that binds itself keeps the place that it is told of"),
        ("kmp$", "Library is", "no news"),
        ("", "'end kmp_get_blocktime\\(\\) 0'", "libomp sets it to 0 once there were more threads than processors"),
        ("", r"'start omp_get_num_threads\(\) 1', ours 'start omp_get_num_threads\(\) 2'",
         "libomp divides the processors between a league's teams"),
    ],
}


def run(program, folder, settings, part):
    environment = {k: v for k, v in os.environ.items() if not re.match("(OMP|GOMP|KMP|LIBOMP|PSTHREADS|LD)_", k)}
    environment.update(settings)
    if folder != "-":
        environment["LD_LIBRARY_PATH"] = folder
    try:
        done = subprocess.run([program, *part], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return "it hangs", [], []
    said = [line for line in done.stderr.splitlines() if line.strip() and "deprecated" not in line]
    return done.returncode, done.stdout.splitlines(), said


def cases(kind):
    for name, values in VALUES.items():
        if name.startswith(KINDS[kind]):
            for value in values:
                yield {name: value}, []
    for both in TOGETHER:
        if all(name.startswith(KINDS[kind]) for name in both):
            yield both, []
    for part in ["", *PARTS[kind]]:
        yield {}, [part] if part else []
    if kind == "llvm":
        yield {"KMP_LIBRARY": "serial"}, ["kmp"]
        yield {"KMP_DEVICE_THREAD_LIMIT": "3"}, ["kmp"]


def differences(theirs, ours):
    if theirs[0] != ours[0]:
        yield f"exit status {theirs[0]}, ours {ours[0]}: {ours[2][-1:]}"
    for i in range(max(len(theirs[1]), len(ours[1]))):
        a, b = (lines[1][i] if i < len(lines[1]) else "(nothing)" for lines in (theirs, ours))
        if a != b:
            yield f"{a!r}, ours {b!r}"
    if bool(theirs[2]) != bool(ours[2]):
        yield f"says {theirs[2][:1]}, ours {ours[2][:1]}"


def main():
    own, our, program, kind = sys.argv[1:5]
    if not {0, 1} <= os.sched_getaffinity(0):
        print("processors 0 and 1 are not to be had")
        return 77
    os.sched_setaffinity(0, {0, 1}) # the answers then are the same on all machines
    only = sys.argv[5:]
    n = wrong = 0
    met = set()
    for settings, part in cases(kind):
        what = " ".join([*(f"{k}={v!r}" for k, v in settings.items()), *part]) or "(nothing set)"
        if only and not any(o in what for o in only):
            continue
        n += 1
        found = []
        for line in differences(run(program, own, settings, part), run(program, our, settings, part)):
            known = [i for i, (where, how, _) in enumerate(OTHERWISE[kind]) if re.search(where, what)
                     and re.search(how, line)]
            met.update(known)
            if not known:
                found.append(line)
        if found:
            wrong += 1
            print(f"{what}:")
            print("\n".join(f"   {line}" for line in found[:6])
                  + (f"\n   and {len(found) - 6} more" if len(found) > 6 else ""))
    if not only:
        for i, (where, how, why) in enumerate(OTHERWISE[kind]):
            if i not in met and not why.startswith(MAY):
                wrong += 1
                print(f"does not differ any more: {where} {how} ({why})")
    print(f"{n} environments and parts, {wrong} not as the owner's")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
