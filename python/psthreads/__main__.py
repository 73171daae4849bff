"""python -m psthreads: runs Python under psrun. See USAGE."""

import os
import subprocess
import sys
from typing import NoReturn

from . import _jupyter
from ._find import runtime

USAGE = """\
python -m psthreads [options] script.py [arguments]    run a script on the psthreads runtime
python -m psthreads [options] -m module [arguments]    run a module
python -m psthreads [options] -c code [arguments]      run a piece of code
python -m psthreads [options] -- [python's options] ...    the same, with options of Python's
python -m psthreads doctor [options] script.py [arguments]
                               run it, then list its thread pools: which are on the runtime, and what to do for others
python -m psthreads info [module ...]    import these modules, and print what psthreads.info() tells then, as JSON
python -m psthreads jupyter install [--user | --sys-prefix | --prefix FOLDER] [--name NAME]
                               add a kernel to Jupyter that runs on the runtime

The options are psrun's: -n 4, --verbose ... (`python -m psthreads --psrun-help` lists them).
To run a script that is called doctor, info or jupyter, write ./doctor.
"""
SHOW = "import sys; from psthreads._info import show; show(sys.argv[1:])"
WITH_VALUE = ("-n", "--threads", "--ee", "--mpi", "--pools", "--dropin", "--pid", "-o", "--output")


def split_options(args: list[str]) -> tuple[list[str], list[str]]:
    """(psrun's options, what Python gets). The first argument that is no option of psrun's begins Python's."""
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] not in ("-", "-m", "-c"):
        if args[at] == "--":
            return args[:at], args[at + 1:]
        at += 2 if args[at] in WITH_VALUE else 1
    return args[:at], args[at:]


def python_command(args: list[str]) -> list[str]:
    """This interpreter with the options that it was started with."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, *args]


def become(*command: str) -> NoReturn:
    psrun = str(runtime().psrun)
    try:
        os.execv(psrun, [psrun, *command])
    except OSError as error:
        raise RuntimeError(f"{psrun}: {error.strerror}") from None


def doctor(options: list[str], args: list[str]) -> NoReturn:
    more, program = split_options(args)
    become(*options, "doctor", *more, *(python_command(program) if program else []))


def psrun() -> NoReturn:
    """The command psrun that a wheel installs."""
    become(str(runtime().psrun), *sys.argv[1:])


def main(args: list[str]) -> None:
    options, rest = split_options(args)
    if not args or options[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
    elif options[:1] == ["--psrun-help"]:
        become("--help")
    elif not rest:
        become(*options)
    elif rest[0] == "doctor":
        doctor(options, rest[1:])
    elif rest[0] == "info":
        become(*options, *python_command(["-c", SHOW, *rest[1:]]))
    elif rest[0] == "jupyter":
        _jupyter.main(options, rest[1:])
    else:
        become(*options, *python_command(rest))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f"psthreads: {error}")
