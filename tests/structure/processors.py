#!/usr/bin/python3
"""processors.py ROOT - what depends on a processor stands in its port: src/cpu/<port> and src/abi/<room>/<processor>.

Elsewhere in src no preprocessor conditional asks for a processor, except in the files below, each for its reason."""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
NAMES = r"__x86_64__|__aarch64__|__riscv\w*|__i386__|__arm__|__powerpc\w*__"
CONDITION = re.compile(rf"^\s*#\s*(?:el)?if.*\b({NAMES})\b", re.M)
PORTS = re.compile(r"^src/(cpu|abi/\w+/(x86_64|aarch64|riscv64)|os/bare)/")
ELSEWHERE = {
    "src/base/atomic.h": "below the ports: a spelling of the compiler's",
    "src/base/compiler.h": "the same",
    "src/base/shake.h": "tests on x86-64 alone",
    "src/os/linux/raw.h": "below the ports: how the kernel is called",
    "src/uth/tls.c": "where the C library's vector of blocks is",
    "src/uth/tls_layout.c": "the sign of the dynamic linker's offsets",
    "src/uth/tls_objects.c": "the same",
    "src/psrun/ld_cache.c": "the flags of the dynamic linker's cache",
    "src/psthreads/vp/current.h": "the fast path's store into a thread-local variable",
    "src/trace/recorder.c": "a layer, which sees no room: the processor's counter",
    "src/trace/recorder.h": "the same",
    "src/psthreads/debug/dump_where.c": "what a call looks like",
    "src/psthreads/debug/debug_layout.c": "where pthread_self is answered, for debuggers",
}

wrong = []
found = set()
for path in sorted((ROOT / "src").rglob("*.[chS]")):
    name = path.relative_to(ROOT).as_posix()
    if PORTS.match(name) or not CONDITION.search(path.read_text(errors="replace")):
        continue
    found.add(name)
    if name not in ELSEWHERE:
        wrong.append(f"{name}: a conditional on a processor; it belongs into src/cpu/<port> or src/abi/.../<processor>")
if (ROOT / "src/cpu/cpu.h").exists():
    wrong += [f"{name}: no longer has a conditional on a processor: processors.py need not name it"
              for name in sorted(set(ELSEWHERE) - found)]
print("\n".join([*wrong, f"processors: {len(found)} files outside of the ports, {len(wrong)} wrong"]))
sys.exit(bool(wrong))
