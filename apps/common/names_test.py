#!/usr/bin/python3
"""names_test.py VERSION PSRUN PROGRAM... - each application calls itself by the name that it was started by: in its
usage, in what it says of an option that it does not know, and beside its version."""

import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def main():
    version, psrun, wrong = sys.argv[1], sys.argv[2], []
    with tempfile.TemporaryDirectory(prefix="names-") as folder:
        for program in map(Path, sys.argv[3:]):
            link = Path(folder) / f"my-{program.name}"
            link.symlink_to(program.resolve())
            for command in ([program], [link], [psrun, link]):
                name = Path(command[-1]).name
                done = run(*command, "--version")
                if (done.returncode, done.stdout, done.stderr) != (0, f"{name} (psthreads) {version}\n", ""):
                    wrong.append(f"{command} --version: {done}")
                done = run(*command, "--help")
                if done.returncode or done.stderr or not done.stdout.startswith(f"Usage: {name} "):
                    wrong.append(f"{command} --help: {done}")
                if "--version" not in done.stdout:
                    wrong.append(f"{command} --help: --version is not in it")
                done = run(*command, "--nothing-of-the-kind")
                if not done.returncode or done.stdout or f"{name}: " not in done.stderr:
                    wrong.append(f"{command} with an unknown option: {done}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
