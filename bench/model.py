"""Runs a program on the modelled machine of transfers.c, under one runtime or another.

The model counts; it tells no time of a real machine. Programs run twice, with few and with many repetitions: the
difference is the repetitions' alone."""

import os
import queue
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness

QEMU = "qemu-x86_64"
COUNTED = ("instructions", "cycles", "transfers", "syscalls")


class Model:
    def __init__(self, build, peers=True):
        """peers: beside ours also libgomp, and libomp where it is found."""
        self.build = Path(build).resolve()
        self.plugin = self.build / "bench" / "transfers.so"
        self.folder = tempfile.TemporaryDirectory(prefix="model-")
        self.processors = queue.SimpleQueue()  # those on which nothing runs yet; run may be called by several threads
        for one in os.sched_getaffinity(0):
            self.processors.put(one)
        self.libraries = {harness.OURS: self.build / "lib" / "dropin"}
        if peers:
            self.libraries["libgomp"] = None
            libomp = harness.find_libomp()
            if libomp:
                self.libraries["libomp"] = Path(self.folder.name)
                (Path(self.folder.name) / "libgomp.so.1").symlink_to(libomp.resolve())

    def missing(self):
        """None, or why this machine has no model."""
        if not self.plugin.exists():
            return f"{self.plugin}: not built"
        try:
            self.run(harness.OURS, 1, ["/bin/true"], 20)
        except (OSError, RuntimeError) as why:
            return f"no model: {why} (tools/install-deps ports has a {QEMU} that takes plugins)"
        return None

    def line(self):
        """What was counted, and by what: the first line of a table."""
        version = subprocess.run([QEMU, "--version"], capture_output=True, text=True).stdout.split()
        names = [harness.OURS]
        for name, folder in self.libraries.items():
            if name == "libgomp":
                names.append(f"libgomp {harness.gcc_runtime_version()}")
            elif name == "libomp":
                names.append(f"libomp{harness.llvm_version(folder / 'libgomp.so.1')}")
        return (f"{', '.join(names)}; x86_64, counted by bench/transfers.c in qemu "
                f"{next((v for v in version if v[0].isdigit()), '?')}")

    def run(self, runtime, processors, command, seconds=300, environment=None):
        """{"instructions": .., "cycles": .., "transfers": .., "syscalls": .., "sites": [(where, transfers)], "printed":
        what the program printed}"""
        own_processor = self.processors.get()  # one thread of the program runs at a time
        try:
            return self.run_on(own_processor, runtime, processors, command, seconds, environment)
        finally:
            self.processors.put(own_processor)

    def run_on(self, own_processor, runtime, processors, command, seconds, environment):
        out = Path(self.folder.name) / f"out{own_processor}"
        out.unlink(missing_ok=True)
        guest = {"LD_PRELOAD": self.build / "bench" / "model_processors.so", "MODEL_PROCESSORS": processors,
                 **(environment or {})}
        if self.libraries.get(runtime):
            guest["LD_LIBRARY_PATH"] = self.libraries[runtime]
        if runtime == "libomp":  # the model has the processors, but not the files that describe them
            guest |= {"KMP_TOPOLOGY_METHOD": "flat", "KMP_AFFINITY": "none"}
        variables = [word for name, value in guest.items() for word in ("-E", f"{name}={value}")]
        words = ["taskset", "-c", own_processor, QEMU, *variables,
                 "-plugin", f"{self.plugin},processors={processors},out={out}", *command]
        own = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|GOMP|KMP|PSTHREADS|LD)_", k)}
        try:
            done = subprocess.run([str(w) for w in words], env=own, capture_output=True, text=True, timeout=seconds,
                                  errors="replace")
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"not finished in {seconds} s") from None
        if done.returncode or not out.exists():
            said = done.stderr.strip().splitlines()
            raise RuntimeError(f"exit status {done.returncode}: {said[-1] if said else 'no message'}")
        return read(out) | {"printed": done.stdout}

    def difference(self, runtime, processors, few, many, times, **more):
        """What `times` repetitions more cost, one of them. few, many: commands."""
        a, b = (self.run(runtime, processors, command, **more) for command in (few, many))
        result = {name: (b[name] - a[name]) / times for name in COUNTED}
        return result | {"sites": b["sites"], "printed": b["printed"]}


def read(path):
    counts, sites, maps = {}, [], []
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word in COUNTED:
            counts[word] = int(rest[0])
        elif word == "site":
            sites.append((int(rest[0], 16), int(rest[1])))
        elif word == "map":
            begin, end = (int(x, 16) for x in rest[0].split("-"))
            maps.append((begin, end, int(rest[2], 16), rest[5]))
    return counts | {"sites": [(where(pc, maps), num) for pc, num in sites]}


def where(pc, maps):
    """(object file, address in it)"""
    for begin, end, offset, path in maps:
        if begin <= pc < end:
            return path, pc - begin + offset
    return "?", pc


def by_function(sites):
    """[(function, transfers)], most first."""
    sums = {}
    for (path, address), num in sites:
        done = subprocess.run(["addr2line", "-fe", path, hex(address)], capture_output=True, text=True)
        name = done.stdout.split("\n")[0] if done.returncode == 0 else "??"
        key = name if name != "??" else Path(path).name
        sums[key] = sums.get(key, 0) + num
    return sorted(sums.items(), key=lambda item: -item[1])
