#!/usr/bin/python3
"""Random values for every environment variable that the runtime reads: whatever they are, the program runs, and each
value that cannot be used gets one line that names its variable.

Usage: env_fuzz.py PROGRAM SOURCE_FOLDER DROPIN_FOLDER [--cases N] [--seed N] [--show]
PROGRAM is settings.c built by GCC. The variables are those whose names stand in SOURCE_FOLDER's code; each gets values
after its grammar, mutated now and then. A case that fails is printed with its environment, to be repeated by
hand."""
import argparse
import os
import random
import re
import subprocess
import sys

BLANKS = ["", "", "", " ", "\t", "  "]
NUMBERS = ["0", "1", "2", "3", "4", "7", "8", "16", "63", "64", "100", "255", "256", "1000", "-1", "-0", "+3", "007",
           "0x10", "2147483647",
           "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
           "18446744073709551615",
           "18446744073709551616", "99999999999999999999999", "1e3", "1.5", ""]
ODD = list(",:;{}()!=-+*/%.\"'\\ \t\n\r\x01\x1b\x7f\xe9") + ["é", "0", "9", "k", "K", "M", "G", "T", "B", "true", "x"]
BOOLS = ["true", "false", "TRUE", "False", "1", "0", "yes", "no", "on", "off", "verbose", "enabled", "disabled", "t",
         "f"]


class Grammar:
    """Values after what the variables' descriptions allow, and close to it."""

    def __init__(self, rng):
        self.rng = rng

    def pick(self, *items):
        return self.rng.choice(items)

    def number(self):
        return self.rng.choice(NUMBERS) if self.rng.random() < 0.3 else str(self.rng.randint(0, 20))

    def blank(self):
        return self.rng.choice(BLANKS)

    def listed(self, item, separator=",", most=4):
        return separator.join(self.blank() + item() + self.blank() for _ in range(self.rng.randint(1, most)))

    def numbers(self):
        return self.listed(self.number)

    def boolean(self):
        return self.blank() + self.rng.choice(BOOLS) + self.blank()

    def size(self):
        return self.blank() + self.number() + self.blank() + self.pick("", "B", "k", "K", "m", "M", "g", "T", "Q",
                                                                       "KB") + self.blank()

    def schedule(self):
        modifier = self.pick("", "", "monotonic:", "nonmonotonic:", "simd:", "monotonic")
        kind = self.pick("static", "dynamic", "guided", "auto", "runtime", "GUIDED", "trapezoidal", "")
        return modifier + self.blank() + kind + self.pick("", "", ",", self.blank() + "," + self.blank()
                                                          + self.number())

    def policy(self):
        return self.pick("active", "passive", "PASSIVE", "default", "")

    def spin(self):
        return self.pick("infinite", "INFINITY",
                         "infinit") if self.rng.random() < 0.2 else self.number() + self.pick("", "k", "M", "g", "T",
                                                                                              "x")

    def offload(self):
        return self.pick("default", "mandatory", "disabled", "DEFAULT", "on")

    def bind(self):
        return self.listed(lambda: self.pick("true", "false", "master", "primary", "close", "spread", "SPREAD", "far"),
                           most=3)

    def interval(self):
        text = ""
        if self.rng.random() < 0.4:
            text += self.blank() + ":" + self.blank() + self.number()
            if self.rng.random() < 0.5:
                text += self.blank() + ":" + self.blank() + self.pick("", "-", "+") + self.number()
        return text

    def place(self):
        def processor():
            return self.pick("", "", "", "!") + str(self.rng.randint(0, 3)) + self.interval()

        body = "{" + self.listed(processor, most=3) + "}" if self.rng.random() < 0.8 else str(self.rng.randint(0, 3))
        return self.pick("", "", "", "!") + body + self.interval()

    def places(self):
        if self.rng.random() < 0.4:
            return self.pick("threads", "cores", "sockets", "ll_caches", "numa_domains", "CORES", "core") + self.pick(
                "", "", "(", "(" + self.blank() + self.number() + self.blank() + ")", "()")
        return self.listed(self.place, most=3)

    def cpus(self):
        def one():
            text = str(self.rng.randint(0, 3))
            if self.rng.random() < 0.4:
                text += "-" + str(self.rng.randint(0, 5)) + (":" + self.number() if self.rng.random() < 0.4 else "")
            return text

        return self.listed(one, separator=self.pick(" ", ",", ", "))

    def allocator(self):
        name = self.pick("default", "large_cap", "const", "high_bw", "low_lat", "cgroup", "pteam", "thread")
        return self.pick(f"omp_{name}_mem_alloc", name, "1", "OMP_DEFAULT_MEM_ALLOC", f"omp_{name}_mem_space",
                         f"omp_{name}_mem_space:alignment={self.number()},pinned=false,fallback=null_fb")

    def format(self):
        field = lambda: "%" + self.pick("", "0", "0.", ".") + self.pick("", "3", "12", self.number()) + self.pick(
            *"tTlLnNmaAHPiz", "{thread_num}", "{host}", "{bogus}", "%", "")
        return "".join(self.pick("x", " ", field(), field()) for _ in range(self.rng.randint(0, 8)))

    def time(self):
        return self.number() + self.pick("", "ms", "us", "s",
                                         "h") if self.rng.random() < 0.8 else self.pick("infinite", "infinity")

    def word(self):
        return self.pick("serial", "turnaround", "throughput", "critical", "atomic", "tree", "auto", "always", "never",
                         "none", "compact",
                         "granularity=fine,compact,1,0", "1s,2c,1t", "enabled", "disabled", "explicit,proclist=[0,1]",
                         "all")

    def mutate(self, text):
        for _ in range(self.rng.randint(1, 3)):
            at = self.rng.randint(0, len(text))
            what = self.rng.randrange(8)
            if what == 0:
                text = text[:at] + text[at + 1:]
            elif what == 1:
                text = text[:at] + self.rng.choice(ODD) + text[at:]
            elif what == 2:
                text = text[:at]
            elif what == 3:
                text = text[:at] + text[at:] * 2
            elif what == 4:
                text = re.sub(r"\d+", lambda m: self.rng.choice(NUMBERS), text, count=1)
            elif what == 5:
                text = text.swapcase()
            elif what == 6:
                text = text[:at] + self.pick("\n", "\x1b", "\nx\n", "\r") + text[at:]
            else:
                text = text * self.rng.choice([2, 50, 3000]) if len(text) < 100 else text
        return text[:100000]

    def value(self, name):
        if name in GRAMMAR:
            text = getattr(self, GRAMMAR[name])()
        else:  # one that this fuzzer does not know yet: anything
            text = getattr(self, self.rng.choice(sorted(set(GRAMMAR.values()))))()
        if self.rng.random() < 0.3:
            text = self.mutate(text)
        return text.replace("\0", "")


GRAMMAR = {
    "OMP_NUM_THREADS": "numbers", "OMP_DYNAMIC": "boolean", "OMP_NESTED": "boolean", "OMP_CANCELLATION": "boolean",
    "OMP_DISPLAY_AFFINITY": "boolean", "OMP_DISPLAY_ENV": "boolean", "OMP_MAX_ACTIVE_LEVELS": "number",
    "OMP_THREAD_LIMIT": "number",
    "OMP_DEFAULT_DEVICE": "number", "OMP_MAX_TASK_PRIORITY": "number", "OMP_NUM_TEAMS": "number",
    "OMP_TEAMS_THREAD_LIMIT": "number",
    "OMP_STACKSIZE": "size", "GOMP_STACKSIZE": "size", "PSTHREADS_STACKSIZE": "size", "KMP_STACKSIZE": "size",
    "OMP_SCHEDULE": "schedule",
    "OMP_WAIT_POLICY": "policy", "GOMP_SPINCOUNT": "spin", "OMP_TARGET_OFFLOAD": "offload", "OMP_PROC_BIND": "bind",
    "OMP_PLACES": "places",
    "GOMP_CPU_AFFINITY": "cpus", "OMP_ALLOCATOR": "allocator", "OMP_AFFINITY_FORMAT": "format", "GOMP_DEBUG": "number",
    "KMP_BLOCKTIME": "time", "KMP_LIBRARY": "word", "KMP_WARNINGS": "boolean", "KMP_SETTINGS": "boolean",
    "KMP_AFFINITY": "word",
    "KMP_DETERMINISTIC_REDUCTION": "boolean",
    "KMP_TEAMS_THREAD_LIMIT": "number", "KMP_HW_SUBSET": "word", "PSTHREADS_NUM_VPS": "number", "PSTHREADS_TLS": "word",
    "PSTHREADS_VERBOSE": "boolean", "OMP_TOOL": "word", "OMP_DEBUG": "word",
}
# Not values to be judged: they make the runtime write, or name files.
WRITES = ("OMP_DISPLAY_ENV", "OMP_DISPLAY_AFFINITY", "KMP_SETTINGS", "PSTHREADS_VERBOSE", "GOMP_DEBUG")
FILES = ("PSTHREADS_DUMP", "OMP_TOOL_LIBRARIES", "OMP_TOOL_VERBOSE_INIT")


def variables_of(folder):
    found = set()
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(path, name), encoding="utf-8") as f:
                    found.update(re.findall(r'"((?:OMP|GOMP|KMP|PSTHREADS)_[A-Z_]*[A-Z])"', f.read()))
    return sorted(found - set(FILES) - {"OMP_INITIAL_DEVICE"})


def run(program, library, settings, seconds):
    environment = {name: value for name, value in os.environ.items() if not re.match("(OMP|GOMP|KMP|PSTHREADS)_", name)}
    environment.update(LD_LIBRARY_PATH=library, **settings)
    raw = {os.fsencode(name): value.encode("utf-8", "surrogateescape") for name, value in environment.items()}
    try:
        done = subprocess.run([program], env=raw, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def judge(settings, status, out, err):
    """What must hold of a run whatever the values are."""
    if status is None:
        return ["it hangs"]
    faults = []
    if status != 0 or not out.endswith("done\n"):
        faults.append(f"it ends with {status}: {err[-300:]!r}")
    if any(name in settings for name in WRITES):
        return faults
    named = {}
    for line in err.splitlines():
        name = re.search(r"\b((?:OMP|GOMP|KMP|PSTHREADS)_[A-Z_]*[A-Z])\b", line)
        if line.startswith("psthreads: the system refuses"):
            continue  # other processes have taken the kernel threads that there may be
        if not line.startswith("psthreads: ") or not (name or "affinity format" in line
                                                      or "memory for a stack" in line):
            faults.append(f"a line that names no variable: {line!r}")
        elif name:
            named[name[1]] = named.get(name[1], 0) + 1
    faults += [f"{n} lines for {name}" for name, n in named.items() if n > 1]
    faults += [f"a line for {name}, which is not set" for name in named if name not in settings]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("source")
    parser.add_argument("dropin")
    parser.add_argument("--cases", type=int, default=int(os.environ.get("CASES", "300")))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=20, help="after which a run hangs")
    parser.add_argument("--only", nargs="*", help="these variables alone")
    args = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    names = args.only or variables_of(args.source)
    if not set(GRAMMAR) <= set(names) and not args.only:
        print("no longer read:", *sorted(set(GRAMMAR) - set(names)))
        return 1
    failed = 0
    for case in range(args.cases):
        rng = random.Random(f"{seed}/{case}")
        grammar = Grammar(rng)
        # Mostly one or two at a time: what follows from which is then plain.
        chosen = rng.sample(names, min(len(names), rng.choice([1, 1, 1, 2, 2, 4, len(names)])))
        settings = {name: grammar.value(name) for name in chosen}
        status, out, err = run(args.program, args.dropin, settings, args.seconds)
        faults = judge(settings, status, out, err)
        if faults:
            failed += 1
            print(f"case {case}: " + " ".join(f"{name}={value[:200]!r}" for name, value in settings.items()))
            for fault in faults[:4]:
                print("  ", fault)
    print(f"{args.cases} cases, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
