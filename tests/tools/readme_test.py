#!/usr/bin/python3
"""readme_test.py README PSRUN WORK - the README's program does what stands there: its commands run as they are written,
in their order, and print the results (not the times) that follow them."""

import os
import re
import subprocess
import sys
from pathlib import Path


def main():
    readme, psrun, work = (Path(word).resolve() for word in sys.argv[1:4])
    text = readme.read_text(encoding="utf-8")
    program = re.search(r"^```c\n(.*?)^```", text, re.S | re.M)[1]
    name = re.search(r"\(`(\w+\.c)`\)", text)[1]
    commands = re.search(r"^```\n(\$ gcc .*?)^```", text, re.S | re.M)[1].split("$ ")[1:]
    work.mkdir(parents=True, exist_ok=True)
    (work / name).write_text(program, encoding="utf-8")
    environment = {**os.environ, "PATH": f"{psrun.parent}:{os.environ['PATH']}"}
    for command in commands:
        line, _, wanted = command.partition("\n")
        done = subprocess.run(["/bin/sh", "-c", line], cwd=work, env=environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        said = done.stdout.partition(",")[0]
        if done.returncode or done.stderr or said != wanted.partition(",")[0].strip():
            sys.exit(f"readme: {line}\n{done.stdout}{done.stderr}exit status {done.returncode}, not: {wanted}")
    if len(commands) < 4:
        sys.exit("readme: there are too few commands")


if __name__ == "__main__":
    main()
