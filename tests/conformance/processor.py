"""The processor that a suite is built for and run on: this machine's own, or another one by Debian's cross compilers
and qemu-user."""

import os
import platform
import shutil
from dataclasses import dataclass, field

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NEWER_QEMU = os.path.join(ROOT, ".cache", "peers", "ports", "qemu", "usr", "bin")  # tools/get-ports
SLOWER = 4  # times as long as a test has on the machine itself (as in cmake/rooms.cmake)


class ProcessorError(Exception):
    pass


@dataclass
class Processor:
    name: str
    compilers: str = ""     # what the compilers' names begin with
    emulator: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)

    @property
    def slower(self):
        return SLOWER if self.emulator else 1


def named(name, gcc):
    """The Processor; the machine's own where name is empty."""
    machine = platform.machine()
    if name in ("", machine):
        return Processor(machine)
    compilers, emulator = f"{name}-linux-gnu-", f"qemu-{name}"
    found = shutil.which(emulator, path=f"{NEWER_QEMU}:{os.environ['PATH']}")
    if not found or not shutil.which(f"{compilers}gcc-{gcc}"):
        raise ProcessorError(f"no {compilers}gcc-{gcc} or no {emulator} here: tools/install-deps ports")
    return Processor(name, compilers, [found], {"QEMU_LD_PREFIX": f"/usr/{name}-linux-gnu"})
