#!/usr/bin/env python3
"""completion_test.py PSRUN FOLDER - the shells' completions in FOLDER offer the options that psrun --help and psrun
doctor --help list, and values that psrun takes. Shells that are installed are asked as well."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

PSRUN, FOLDER = sys.argv[1], Path(sys.argv[2])
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
wrong = []


def output(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more).stdout


def of_help(*command):
    lines = re.findall(r"^ {2,6}(?:(-\w), )?(--[a-z-]+)", output(PSRUN, *command, "--help"), re.M)
    return {name for line in lines for name in line if name}


def of_bash(text):
    program, doctor = sorted(re.findall(r'_psrun_list "(-[^"]*)"', text), key=lambda words: "--version" not in words)
    return set(program.split()), set(doctor.split())


def of_zsh(text):
    def names(part):
        found = re.findall(r"^ +'(?:\([^)]*\))?(?:(--[a-z-]+)[=\[]|'\{(-\w)\+?,(--[a-z-]+)=?\})", part, re.M)
        return {name for line in found for name in line if name}

    before, doctor, after = re.split(r"^ +doctor\)$|;;", text, maxsplit=2, flags=re.M)
    return names(before + after), names(doctor)


def of_fish(text):
    def names(where):
        found = re.findall(rf"^complete -c psrun -n \${where} (?:-s (\w) )?-l ([a-z-]+)", text, re.M)
        return {name for short, long in found for name in (short and f"-{short}", f"--{long}") if name}

    return names("first"), names("doctor")


def compare(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: has {sorted(found - wanted)} too many, lacks {sorted(wanted - found)}")


def check_values(texts):
    for option, words in re.findall(r'^ +(--\w+)\) _psrun_list "([^"]*)"', texts["psrun.bash"], re.M):
        for word in words.split():
            if subprocess.run([PSRUN, option, word, "true"], stderr=subprocess.DEVNULL).returncode:
                wrong.append(f"psrun {option} {word} is offered, and refused")
            wrong.extend(f"{name} lacks {word}" for name, text in texts.items() if not re.search(rf"\b{word}\b", text))


def ask(shell, long_options, command):
    """The shell's own answer to `psrun --` or `psrun doctor --` has the long options."""
    found = set(re.findall(r"--[a-z-]+", output(*command)))
    compare(f"{shell} offers", found, {name for name in long_options if name.startswith("--")})


def main():
    texts = {name: (FOLDER / name).read_text() for name in ("psrun.bash", "_psrun", "psrun.fish")}
    wanted = of_help(), of_help("doctor")
    if not all(wanted):
        sys.exit("psrun --help lists no options")
    for name, options in zip(texts, (of_bash, of_zsh, of_fish)):
        for what, found, there in zip(("psrun", "doctor"), options(texts[name]), wanted):
            compare(f"{name}, options of {what}", found, there)
    check_values(texts)
    asked = []
    for name, shell in zip(texts, ("bash", "zsh", "fish")):
        if shutil.which(shell):
            asked.append(shell)
            if subprocess.run([shell, "-n", FOLDER / name]).returncode:
                wrong.append(f"{name}: {shell} cannot read it")
    for words, there in zip((["psrun", "--"], ["psrun", "doctor", "--"]), wanted):
        if BASH_COMPLETION.exists():
            line = " ".join(words)
            ask("bash", there, ["bash", "-c", f". {BASH_COMPLETION}; . {FOLDER}/psrun.bash; COMP_LINE='{line}'\n"
                                f"COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}\n"
                                "_psrun; echo \"${COMPREPLY[@]}\""])
        if "fish" in asked:
            ask("fish", there, ["fish", "--no-config", "-c", f"source {FOLDER}/psrun.fish; "
                                f"complete -C '{' '.join(words)}' | string replace -r '\\t.*' ''"])
    print("\n".join([*wrong, f"{len(wanted[0])} and {len(wanted[1])} options, {len(wrong)} wrong; "
                     f"shells that were asked: {' '.join(asked) or 'none'}"]))
    return bool(wrong)


sys.exit(main())
