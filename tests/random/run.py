#!/usr/bin/python3
"""Random OpenMP programs (program.py), each built by GCC and by clang and run under the drop-in in random environments.

Usage: run.py --build BUILD --work FOLDER [--seeds FROM-TO] [--runs N] [--size N] [--compilers gcc,clang]
              [--runtime ours|pthreads|peer] [--manycore] [--help: the others]

A run that fails is printed with its environment, and its program stays in the work folder, to be repeated by hand.
--runtime peer runs the compiler's own runtime: what fails there is the generator's fault, or the peer's. --manycore
compiles with manycore-cc and runs on the virtual manycore."""
import argparse
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import program  # noqa: E402

WATCH = os.path.join(HERE, "..", "run-with-watch")
OURS = ("OMP_", "GOMP_", "KMP_", "PSTHREADS_")


def environment(rng, compiler, ours, threadprivate):
    """Settings of docs/environment.md that may not change what a program computes."""
    chosen = {"OMP_NUM_THREADS": rng.choice(["1", "2", "3", "4", "4", "7", "16", "4,3,2", "2,2,2", "8,2"])}

    def maybe(probability, name, *values):
        if rng.random() < probability:
            chosen[name] = rng.choice(values)

    maybe(0.7, "OMP_MAX_ACTIVE_LEVELS", "1", "2", "3", "4", "255")
    maybe(0.5, "OMP_SCHEDULE", "static", "static,3", "dynamic", "dynamic,5", "guided", "guided,2", "auto",
          "monotonic:dynamic", "nonmonotonic:guided,4")
    maybe(0.3, "OMP_WAIT_POLICY", "active", "passive")
    maybe(0.5, "OMP_CANCELLATION", "true")
    maybe(0.15, "OMP_DYNAMIC", "true")
    maybe(0.2, "OMP_PROC_BIND", "true", "close", "spread", "master", "spread,close")
    maybe(0.15, "OMP_PLACES", "threads", "cores", "sockets", "{0},{1}", "{0,1}")
    maybe(0.15, "OMP_THREAD_LIMIT", "1", "3", "6", "20")
    maybe(0.2, "OMP_MAX_TASK_PRIORITY", "1", "10")
    if compiler == "clang":
        maybe(0.1, "KMP_BLOCKTIME", "0", "infinite")
        maybe(0.1, "KMP_DETERMINISTIC_REDUCTION", "true")
        maybe(0.1, "KMP_ENABLE_TASK_THROTTLING", "false")
        chosen["KMP_WARNINGS"] = "false"
    else:
        maybe(0.1, "GOMP_SPINCOUNT", "0", "1000", "infinite")
    if ours:
        maybe(0.85, "PSTHREADS_NUM_VPS", "1", "2", "2", "3", "4", "8")
        # "never" gives threads no storage of their own
        maybe(0.5, "PSTHREADS_TLS", "auto", "always", *([] if threadprivate else ["never"]))
    return chosen


class Runner:
    def __init__(self, args):
        self.args = args
        self.failures = self.runs = self.programs = 0

    def compiler(self, name):
        if name == "gcc":
            return ["gcc", "-fopenmp"]
        return [self.args.clang, *self.args.clang_flags.split(), "-fopenmp-version=51"]

    def libraries(self, compiler):
        if self.args.runtime == "peer":
            return self.args.libomp if compiler == "clang" else ""
        return os.path.join(self.args.build, "lib", "dropin-pthreads" if self.args.runtime == "pthreads" else "dropin")

    def build(self, seed, compiler, level):
        name = os.path.join(self.args.work, f"r{seed}-{compiler}")
        manycore = compiler == "manycore"
        text = program.Program(seed, "gcc" if manycore else compiler, 32 if manycore else 64, self.args.size,
                               self.args.only).write()
        with open(name + ".c", "w", encoding="utf-8") as f:
            f.write(text)
        if manycore:
            command = [os.path.join(self.args.build, "bin", "manycore-cc"), "--data=main", "--stack=131072", "-w",
                       "-Wl,--defsym=__cores_most=4,--defsym=__tcdm_size=1048576"]
        else:
            command = [*self.compiler(compiler), "-w", *(["-DPEER"] if self.args.runtime == "peer" else [])]
        made = subprocess.run([*command, f"-O{level}", name + ".c", "-o", name, "-lm"], check=False,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if made.returncode:
            self.failed(f"{' '.join(made.args)}\n{made.stdout}")
            return None
        return name

    def failed(self, text):
        self.failures += 1
        print(text, flush=True)

    def run(self, name, compiler, settings):
        variables = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        variables.update(settings)
        if compiler == "manycore":
            command = [os.path.join(self.args.build, "bin", "manycore"), "--set", "platform.cores=4", "--set",
                       "tcdm.size=1048576", "--set", "run.limit=2000000000", name]
        else:
            variables["LD_LIBRARY_PATH"] = self.libraries(compiler)
            command = [WATCH, str(self.args.watch), name]
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", env=variables)
        self.runs += 1
        lines = [line for line in done.stdout.splitlines() if line]
        if done.returncode == 0 and lines and lines[-1] == "ok":
            return True
        shown = " ".join(f"{k}='{v}'" for k, v in settings.items())
        self.failed(f"FAIL ({done.returncode}) {shown} {' '.join(command)}\n{done.stdout}")
        return False

    def seed(self, seed):
        args = self.args
        rng = random.Random(seed * 7919 + 1)
        for compiler in ["manycore"] if args.manycore else args.compilers:
            name = self.build(seed, compiler, rng.choice(args.levels))
            if not name:
                continue
            self.programs += 1
            with open(name + ".c", encoding="utf-8") as f:
                own = "threadprivate" in f.read()
            good = True
            for _ in range(1 if compiler == "manycore" else args.runs):
                good = self.run(name, compiler, environment(rng, compiler, args.runtime != "peer", own)) and good
            if good:
                os.unlink(name)
                os.unlink(name + ".c")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True, help="folder for the programs")
    parser.add_argument("--seeds", default=os.environ.get("SEEDS", "1-30"), help="FROM-TO (default: SEEDS, or 1-30)")
    parser.add_argument("--runs", type=int, default=2, help="environments that a program is run in")
    parser.add_argument("--size", type=int, default=12, help="functions of a program")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these kinds of functions and statements")
    parser.add_argument("--compilers", type=lambda text: text.split(","), default=["gcc", "clang"])
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--clang-flags", default="-fopenmp=libomp")
    parser.add_argument("--libomp", default="", help="folder of the peer's libomp.so.5")
    parser.add_argument("--runtime", choices=("ours", "pthreads", "peer"), default="ours")
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["0", "1", "2", "3"])
    parser.add_argument("--manycore", action="store_true")
    parser.add_argument("--seconds", type=float, help="begin no further program after that many")
    parser.add_argument("--watch", type=int, default=60, help="seconds that a program may take")
    parser.add_argument("--keep-going", action="store_true", help="not only up to ten failures")
    args = parser.parse_args()
    args.build, args.work = os.path.abspath(args.build), os.path.abspath(args.work)
    try:
        first, last = (int(part) for part in args.seeds.split("-"))
    except ValueError:
        parser.error(f"--seeds {args.seeds}: FROM-TO is expected")
    os.makedirs(args.work, exist_ok=True)
    runner = Runner(args)
    begun = time.monotonic()
    for seed in range(first, last + 1):
        if args.seconds and time.monotonic() - begun > args.seconds:
            print(f"time is over before seed {seed}")
            break
        if runner.failures >= 10 and not args.keep_going:
            print(f"ten failures: stopped before seed {seed}")
            break
        runner.seed(seed)
    print(f"{runner.programs} programs, {runner.runs} runs, {runner.failures} failures")
    return 1 if runner.failures or not runner.runs else 0


if __name__ == "__main__":
    sys.exit(main())
