#!/usr/bin/python3
"""launch.py [OPTIONS] MPIRUN PSRUN PROGRAM [ARGUMENT...] - runs a program of the tests as an MPI job under psrun.

Looks how the job ends.

Without options the job must end with status 0 and print what --done says."""

import argparse
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=2, help="ranks")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="for the ranks")
    parser.add_argument("--psrun", action="append", default=[], dest="options", metavar="OPTION",
                        help="an option of psrun's")
    parser.add_argument("--outside", action="store_true", help="psrun before mpirun, not before the program")
    parser.add_argument("--preload", metavar="FILE", help="for psrun, or for the program where there is none")
    parser.add_argument("--plain", action="store_true", help="without psrun")
    parser.add_argument("--fails", action="store_true", help="the job must end with another status than 0")
    parser.add_argument("--says", action="append", default=[], metavar="TEXT",
                        help="what stands in its output, once or more")
    parser.add_argument("--done", default="all is well", metavar="TEXT",
                        help="what stands there in any case: %(default)s")
    parser.add_argument("--times", type=int, help="how often the first of them does")
    parser.add_argument("mpirun")
    parser.add_argument("psrun")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       **dict(pair.split("=", 1) for pair in args.env))
    for name in list(environment):  # of a job that this test may be part of
        if name.startswith(("OMPI_COMM_", "PMI_", "PMIX_", "MPI_LOCAL", "SLURM_")):
            del environment[name]
    launcher = [args.mpirun, "-n", str(args.n)]
    if "openmpi" in os.path.realpath(args.mpirun) + args.mpirun:
        launcher.append("--oversubscribe")
    runner = [] if args.plain else [args.psrun, *args.options]
    if args.preload:
        runner = ["env", f"LD_PRELOAD={args.preload}", *runner]
    with tempfile.TemporaryDirectory() as folder:
        command = [word.replace("@FOLDER@", folder) for word in args.command]
        job = runner + launcher + command if args.outside else launcher + runner + command
        done = subprocess.run(job, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                              errors="replace", stdin=subprocess.DEVNULL, check=False)
    print(done.stdout, end="")
    print(f"{' '.join(job)}: status {done.returncode}")
    says = args.says + ([] if args.fails else [args.done])
    wrong = [f"does not say: {text}" for text in says if text not in done.stdout]
    if args.times is not None and done.stdout.count(says[0]) != args.times:
        wrong.append(f"says {done.stdout.count(says[0])} times, not {args.times}: {says[0]}")
    if (done.returncode != 0) != args.fails:
        wrong.append("it should have failed" if args.fails else "it failed")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
