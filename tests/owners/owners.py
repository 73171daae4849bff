#!/usr/bin/python3
"""owners.py OWN-FOLDER OUR-FOLDER PROGRAM KIND - every query of queries.c under every environment below, answered as by
the runtime that the program was built for.

KIND is gnu (built by GCC, libgomp is the owner) or llvm (built by clang, libomp). Each row is a variable with values,
as its owner's users write them, and as they write them wrongly. What is compared: every answer on standard output, the
exit status, and whether something was said on standard error (texts are our own; libomp's line for what is deprecated
is left out). Of a value that its owner complains of, the exit status alone is compared (READ_ALIKE). What differs on
purpose is in OTHERWISE, with the reason; an entry that no longer differs is an error too."""

import os
import re
import subprocess
import sys

BOOLEANS = ["true", "false", "TRUE", "False", "1", "0", "yes", "no", "on", "off", "T", "F", "t", "f", ".true.",
            ".false.", ".T.", "enabled", "disabled", " true ", "2", "maybe", "tru", "truex", "true x", "falsey", "01",
            "o", "onn", "ye", ".t", "disable", "-1", "\ttrue", " ", ""]
NUMBERS = ["1", "3", "0", "-1", "300", " 2 ", "2x", "many", "99999999999999999999", "\t3\t", "0003",
           "0x3", "3.5", "3e1", "3k", "3,", "3 2", " ", ""]
SIZES = ["1M", "300", "65536B", "64k", "2 m", "1g", "1t", "8Q", "none", "-5", "10", "0", "1MB", "64kb", "1 MB ",
         "1MiB",
         "1mm", "1.5M", "16384b", "16383b", "\t64\tk", "0x100000", "064k", "1 1", "1kk", "1bk", "B", "k1",
         "1Eb",
         "99999999999999999999k", " ", ""]
VALUES = {
    "OMP_NUM_THREADS": [*NUMBERS, "4,", "4,3", "4,3,2", "4, 3", "4,,2", ",4", "4;3", "4,x", "0,2", "2,0", ",,",
                        "4 , 3 ", "4,3,", "4, ,2", "all", "ALL", "4 3", "4,\t3", "4,-1", "2k"],
    "OMP_DYNAMIC": BOOLEANS,
    "OMP_NESTED": BOOLEANS,
    "OMP_CANCELLATION": BOOLEANS,
    "OMP_MAX_ACTIVE_LEVELS": NUMBERS,
    "OMP_THREAD_LIMIT": NUMBERS,
    "OMP_TEAMS_THREAD_LIMIT": NUMBERS,
    "OMP_NUM_TEAMS": NUMBERS,
    "OMP_MAX_TASK_PRIORITY": NUMBERS,
    "OMP_DEFAULT_DEVICE": ["0", "3", "-1", "x", "0x3", "3\n", ""],
    "OMP_SCHEDULE": ["static", "dynamic", "guided", "auto", "STATIC", "static,5", "dynamic,4", "dynamic, 4",
                     "guided,0",
                     "dynamic,-3", "auto,3", "monotonic:dynamic",
                     "nonmonotonic:dynamic,3", "monotonic:static", "nonmonotonic:static", "simd:static",
                     "trapezoidal",
                     "dynamic,", "runtime", "often", "static ", " static", "static ,5", "static, 5",
                     "static,0", "static,0x5", "static,5k",
                     "static,5kx", "dynamic,2147483647", "auto,", "Monotonic:Dynamic,3", "monotonic: dynamic",
                     " monotonic : dynamic , 4 ", "monotonic", "monotonic:simd:static", "nonmonotonic:auto",
                     "static_steal,2", ""],
    "OMP_PROC_BIND": ["true", "false", "TRUE", "primary", "master", "close", "spread", "close,spread",
                      "spread, close",
                      "1", "0", "far", "close,far", " true", "true,", "truex", "true,close", "tru", "yes", "on", "no",
                      ".true.", "disabled", "disabled,close", "enabled", "falsex", "false,close", "2", "3,4",
                      "close,3",
                      "01", "7", "-1", "primar", "closed", "close ", "close,", "close,,", ",close", "far,close",
                      "close;spread", "close spread", "close,true", "close , spread ", ""],
    "OMP_PLACES": ["threads", "cores", "sockets", "ll_caches", "numa_domains", "threads(1)", "cores(9)", "{0},{1}",
                   "{0:2}", "{0}", "{0,1}", "{0}:2", "{1}:2:-1", "0,1", "{99}",
                   "{0},{99}", "sockets(", "{0", "nowhere", " threads", "thread", "threadsx", "threads (1)",
                   "threads( 1 ) ", "threads()", "threads(x)", "threads(1)x",
                   "threads,cores",
                   "cores:1", "{0} , {1}", "{0}{1}", "{0},,{1}", "{0},", "{}", "{0,}", "{0 1}", "{0:2:1}", "{1:2:-1}",
                   "{0:2:--1}", "{1}:2:+-1", "{0:0}", "{0}:0", "{0}:-1", "{0}:2:-1", "{0}:2:0", "{0,1}:2", "{0,99}",
                   "{0:100}", "99", "{100000}", "0-1", "0:2", "1:2:-1", "{0},{0}", "{+0}", "{0x1}", "{0}x", "(0)",
                   " "],
    "OMP_STACKSIZE": SIZES,
    "OMP_WAIT_POLICY": ["active", "passive", "ACTIVE", "acti", "active ", " active", "activex", "a", "busy", "1", ""],
    "OMP_TARGET_OFFLOAD": ["mandatory", "disabled", "default", "DISABLED", "never", " disabled ", "disable", "0", ""],
    "OMP_ALLOCATOR": ["omp_default_mem_alloc", "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc", "7", "1", "nothing",
                      "omp_default_mem_space", "omp_default_mem_space:alignment=64",
                      "omp_large_cap_mem_space:pool_size=1000,fallback=null_fb",
                      "omp_default_mem_space:pinned=true,partition=nearest", "omp_default_mem_space:alignment=x",
                      "omp_default_mem_space:nothing=1", "omp_default_mem_space : alignment = 64",
                      "Omp_Default_Mem_Alloc", "omp_default_mem_allocx", " omp_default_mem_alloc ", ""],
    "OMP_TOOL": ["enabled", "disabled"],
    "KMP_TEAMS_THREAD_LIMIT": NUMBERS,
    "KMP_LIBRARY": ["serial", "turnaround", "throughput", "SERIAL", "turn", "through", "s", "serial ", "dedicated",
                    "multiuser", "fast", "serialx", "t", "th", "dedx", " serial", ""],
    "KMP_BLOCKTIME": ["0", "7", "200", "infinite", "5us", "3ms", "2s", "-5", "x", "+7", "7 MS", "7msx", "7m", "7.5",
                      "infinitex", "5 infinite", "us", "ms", "2147483", "2147484", "2147484ms", "2147483647us", ""],
    "KMP_STACKSIZE": SIZES,
    "KMP_AFFINITY": ["none", "compact", "scatter", "balanced", "disabled", "granularity=fine,compact",
                     "explicit,proclist=[1,0]", "granularity=fine,scatter", "norespect", "norespect,compact",
                     "compact,", "proclist=[0,1]", "granularity=fine,proclist=[0-1],explicit", "compact,none",
                     "disabled,compact", "tight", "compactx", " compact ", ",compact", "compact,,", "compact,0,1",
                     "compact,1,1", "compact,0,3", "compact, 0, 1", "0,1,compact", "compact,0,1,2", "compact,-1",
                     "compact,x",
                     "compact;0;1", "compact,0,2147483647", "scatter,0,1", "logical,1", "logical,0,1", "physical,1",
                     "none,1", "none,compact", "compact,compact", "compact,disabled", "disabled,1", "compact+scatter",
                     "explicit", "explicit,proclist=[0 1]", "explicit, proclist = [ 1 , 0 ]",
                     "explicit,proclist=[0,1,]",
                     "explicit,proclist=[0,,1]", "explicit,proclist=[1-0:-1]", "explicit,proclist=[0-1:0]",
                     "explicit,proclist=[1-0]", "explicit,proclist=[{0}{1}]", "explicit,proclist=[{0-1}]",
                     "explicit,proclist=[{}]", "explicit,proclist=[0,99]", "explicit,proclist=[99]",
                     "explicit,proclist=[]", "explicit,proclist=0,1", "explicit,proclist=[0", "explicit,proclist=[x]",
                     "explicit,1,proclist=[0,1]", "explicit,proclist=[0],proclist=[1]", "explicit,proclist=[0,0]",
                     "granularity=thread,compact", "granularity=threads,compact", "granularity=package,compact",
                     "granularity=socket,compact", "granularity=node,compact", "granularity=numa,compact",
                     "granularity=die,compact", "granularity=tile,compact", "granularity=group,compact",
                     "granularity=core_type,compact", "granularity=0,compact", "granularity=2,compact",
                     "granularity=t,compact", "granularity=,compact", "granularity,compact",
                     "granularity = fine , compact", "gran=fine,compact", "granularity=tight,compact",
                     "granularity=fine,granularity=core,compact", "granularity=socket,proclist=[0,1],explicit",
                     "nodups,granularity=socket,compact", "dups,compact", "noverbose,compact", "noreset,compact",
                     "verbose", "reset", "reset,compact", "tight,compact", "compact,tight,1", "1", "0,1", " ", ""],
    "KMP_HW_SUBSET": ["1c", "1s,1s", "1s,1c", "2c,1t", "1t", "1 c", "1c, 1t", "1c ,1t", "9c", "x", "1c,", ",1c",
                      "1s 1c", "1sx1c",
                      "1c@1", "1c @ 1", "1c@", "1c@x", "2c@1", "1c@2", "*c", "*", ":1c", "1Core", "1cc", "0c",
                      "-1c", "1c,1c",
                      "1 core 1 thread", "1c:eff0", "all", " ", ""],
    "KMP_PLACE_THREADS": ["1c", "1c,1t"],
    "KMP_DETERMINISTIC_REDUCTION": BOOLEANS,
    "KMP_DISP_NUM_BUFFERS": ["7", "0", "7 ", "7x", "4097", ""],
    "KMP_WARNINGS": ["0", "off", "true", "x"],
    "GOMP_CPU_AFFINITY": ["0", "0 1", "1,0", "0-1", "x", "0,1,", ",0", "0,,1", " 0 1 ", "1-0", "0-1:1", "0-1:0",
                          "1-0:-1",
                          "0 -1", "{0,1}", "{0} {1}", "00 01", "0;1", "0 0", " ", ""],
    "GOMP_STACKSIZE": SIZES,
    "GOMP_SPINCOUNT": ["10", "infinite", "5k", "x", "10 k", "10kk", "0x10", "infinit", "infinitex",
                       "infinity ", "18446744073709551615", "18446744073709551616", "99999999999999999999k", ""],
}
# Where two variables say something about the same, each alone is set and unset in the rows above; here both.
TOGETHER = [
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
    {"OMP_PROC_BIND": "close", "KMP_AFFINITY": "verbose"}, {"OMP_PROC_BIND": "spread", "KMP_AFFINITY": "reset"},
    {"OMP_PLACES": "threads", "KMP_AFFINITY": "granularity=fine"},
    {"OMP_PROC_BIND": "false", "KMP_AFFINITY": "nowarnings"},
    {"GOMP_CPU_AFFINITY": "1 0", "KMP_AFFINITY": "norespect"}, {"GOMP_CPU_AFFINITY": "1 0", "KMP_AFFINITY": "none"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "2"},
    {"OMP_NESTED": "x", "OMP_MAX_ACTIVE_LEVELS": "2"}, {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "0"},
    {"KMP_HW_SUBSET": "1c", "KMP_PLACE_THREADS": "2c"},
    {"OMP_NUM_THREADS": "4,3", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_NUM_THREADS": "8", "OMP_DYNAMIC": "true"},
    {"OMP_NUM_THREADS": "8", "OMP_THREAD_LIMIT": "3"},
    {"GOMP_CPU_AFFINITY": "1 0", "OMP_PLACES": "{0}"}, {"GOMP_CPU_AFFINITY": "1 0", "OMP_PROC_BIND": "false"},
]
PARTS = {"gnu": ["set", "pause"], "llvm": ["set", "kmp", "pause", "error"]}
KINDS = {"gnu": ("OMP_", "GOMP_", "KMP_"), "llvm": ("OMP_", "KMP_", "LIBOMP_", "GOMP_CPU_AFFINITY", "GOMP_STACKSIZE")}

# One reading serves both kinds of programs: what the one owner complains of may be well spelled to the other.
READ_ALIKE = "G?OMP_|KMP_.*(LIMIT|STACKSIZE|REDUCTION)="

# Of what omp_display_env shows (libgomp's programs have no other way to ask).
SHOWN = "(OMP_STACKSIZE|OMP_WAIT_POLICY|OMP_NUM_THREADS|OMP_PROC_BIND|OMP_MAX_ACTIVE_LEVELS) = .*"
# The owner itself ends the program, or hangs: what is no number in a list, or more than its int holds. Ours goes
# on, and says a line.
ENDS = {"gnu": r"OMP_NUM_THREADS='\d{10,19}'", "llvm": r"OMP_NUM_THREADS='(?!all|ALL)"
                               r"(([\d, ]|\\t)*([^\d, \\']|\\[^t])|.*\d (\\t)?\d|.*\d{10}| '$)"
                               r"|GOMP_CPU_AFFINITY='(0,,1|0x1|0;1)'"}

# (settings, difference, why); regular expressions. Why begins with MAY where the machine decides whether they differ.
MAY = "on some processors: "
OTHERWISE = {
    "gnu": [
        ("OMP_SCHEDULE='dynamic,-3'", "", "libgomp takes a negative chunk"),
        ("OMP_TARGET_OFFLOAD='mandatory'", "omp_get_default_device", "OpenMP 5.2, and newer libgomps: no device"),
    ],
    "llvm": [
        ("=''", "", "a variable that is set to nothing counts as not set, in silence"),
        ("STACKSIZE='(1t|1Eb|9{20}k)'", "", "libomp ends the program where no thread can be made"),
        ("LIMIT=|OMP_NUM_THREADS='300'", r"says \['OMP: Warning #96",
         "a team that the program's own limit makes smaller is no news"),
        (r"^set$", "Warning #97", "a negative number of levels is ignored in silence, as libgomp does"),
        ("PLACES=|BIND=|AFFINITY=", "'bound ",
         "libomp leaves members of a region bound to primary where the region before had them"),
        ("OMP_PLACES='ll_caches'", "place|partition|affinity",
         MAY + "libomp knows no caches where the processor does not tell of them"),
        (r"OMP_ALLOCATOR='omp_\w+_mem_space", "omp_get_default_allocator",
         "an allocator that is made has an address; a space alone is its predefined allocator here"),
        ("KMP_HW_SUBSET='1s,1s'", "says", "a layer that is named twice: the last counts"),
        ("KMP_LIBRARY='[sS]", "omp_get_thread_limit|team_of", "a limit is what makes the library serial, to the end"),
        ("KMP_AFFINITY='balanced'", "affinity|place_num|says",
         "libomp binds these to cores and tells no places; here they are places"),
        ("KMP_HW_SUBSET=", r"says \[\]", "what there is not, or cannot be read, is said"),
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
    shown, said, inside = [], [], False
    for line in done.stderr.splitlines():
        inside |= line == "OPENMP DISPLAY ENVIRONMENT BEGIN"
        value = re.search(SHOWN, line) if inside else None
        if value:
            shown.append("display " + value.group())
        elif not inside and line.strip() and "deprecated" not in line:
            said.append(line)
        inside &= line != "OPENMP DISPLAY ENVIRONMENT END"
    return done.returncode, done.stdout.splitlines() + shown, said


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
        ours = run(program, our, settings, part)
        if re.match(ENDS[kind], what):
            if ours[0] != 0 or not ours[2]:
                found.append(f"its owner ends; ours ends with {ours[0]} and says {ours[2][:1]}")
            theirs = ours
        else:
            theirs = run(program, own, settings, part)
        if len(settings) == 1 and theirs[2] and re.match(READ_ALIKE, what):
            theirs = theirs[0], ours[1], ours[2]
        for line in differences(theirs, ours):
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
