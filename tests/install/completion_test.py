#!/usr/bin/env python3
"""completion_test.py FOLDER BIN COMMAND... - the completions in FOLDER offer each long option that `COMMAND --help`
lists, and no other. The shells that are installed are asked."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER, BIN = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def of_bash(command):
    line = f"{command} --"
    return output("bash", "-c", f". {BASH_COMPLETION}; . {FOLDER}/{command}; COMP_LINE='{line}'\n"
                  f"COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({line}) COMP_CWORD=1\n"
                  f"_longopt {command} -- {command}; echo \"${{COMPREPLY[@]}}\"; complete -p {command}")


def of_fish(command):
    return output("fish", "--no-config", "-c", f"source {FOLDER}/{command}.fish; "
                  f"complete -C '{command} --' | string replace -r '\\t.*' ''")


def of_zsh(command):
    """zsh completes in a terminal alone. What is typed before its line editor runs would be lost."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", COLUMNS="200", LINES="200")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = f"fpath=({FOLDER} $fpath) LISTMAX=1000; autoload -Uz compinit; compinit -D -u; PROMPT=edi'%?'tor"
    said = ""
    for line, end in ((f"{setup}\n", "edi0tor"), (f"{command} --\t\x15exit\n", None)):
        os.write(terminal, line.encode())
        said = ""
        while end is None or end not in said:
            try:
                said += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the end of a terminal
                break
    os.waitpid(child, 0)
    return " ".join(re.findall(r"^\s*(--[a-z-]+)", said, re.M))  # without what is said of them


def main():
    asked = {"bash": of_bash, "fish": of_fish, "zsh": of_zsh}
    if not BASH_COMPLETION.exists():
        del asked["bash"]
    for shell in [shell for shell in asked if not shutil.which(shell)]:
        del asked[shell]
    wrong = []
    for command in sys.argv[3:]:
        wanted = set(re.findall(r"^ {2,6}(?:-\w, ?)?(--[a-z-]+)", output(command, "--help"), re.M))
        if not wanted:
            wrong.append(f"{command} --help lists no options")
        for shell, answer in asked.items():
            found = set(re.findall(r"(?<!\S)--[a-z-]+", answer(command))) - {"--"}
            if found != wanted:
                wrong.append(f"{shell}, {command}: {sorted(found - wanted)} too many, lacks {sorted(wanted - found)}")
    print("\n".join([*wrong, f"{len(sys.argv) - 3} commands, {len(wrong)} wrong; asked: {' '.join(asked) or 'none'}"]))
    return bool(wrong)


sys.exit(main())
