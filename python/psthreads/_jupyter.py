"""python -m psthreads jupyter install: a kernel of this interpreter that runs under psrun."""

import argparse
import shutil
import sys
from typing import Optional

from ._find import runtime


def install(options: list[str], name: str, user: bool, prefix: Optional[str]) -> str:
    """Adds the kernel, and returns the folder that it stands in."""
    try:
        from ipykernel.kernelspec import make_ipkernel_cmd, write_kernel_spec
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError as error:
        raise RuntimeError(f"jupyter: {error}: `{sys.executable} -m pip install ipykernel` installs it") from error
    overrides: dict[str, object] = {"argv": [str(runtime().psrun), *options, *make_ipkernel_cmd()],
                                    "display_name": f"Python {sys.version_info[0]} ({name})"}
    written = write_kernel_spec(overrides=overrides)
    try:
        return str(KernelSpecManager().install_kernel_spec(written, kernel_name=name, user=user, prefix=prefix))
    except (OSError, ValueError) as error:
        raise RuntimeError(f"jupyter: {error}") from None
    finally:
        shutil.rmtree(written, ignore_errors=True)


def main(options: list[str], args: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m psthreads jupyter")
    install_parser = parser.add_subparsers(dest="command", required=True).add_parser(
        "install", description="Adds a kernel to Jupyter that runs on the psthreads runtime.")
    place = install_parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user (the default)")
    place.add_argument("--sys-prefix", action="store_const", const=sys.prefix, dest="prefix",
                       help="into this interpreter's environment")
    place.add_argument("--prefix", help="into FOLDER/share/jupyter/kernels", metavar="FOLDER")
    install_parser.add_argument("--name", default="psthreads", help="what the kernel is called (psthreads)")
    given = parser.parse_args(args)
    where = install(options, given.name, given.prefix is None, given.prefix)
    print(f"kernel {given.name} in {where}; take it away again: jupyter kernelspec remove {given.name}")
