#!/usr/bin/python3
"""Every call that the runtime makes of the system is refused in turn, under real programs: nothing is lost, at most a
clear line is said.

Usage: refuse.py SHIM DROPIN_FOLDER PROGRAM... [--most N] [--vps N...] [--only NAME...]
For each function that shim.c knows and the program's run makes the runtime call: the Nth call alone fails (N = 0, 1,
... up to --most, evenly chosen out of all where there are more), then all from the Nth on. What must hold: the program
says "right" and ends with 0; each line on stderr is the runtime's, there are few of them and none is there twice. Where
one thing is refused for good that the program cannot go on without, it may end, or wait, after it has said so
(LAST_WORDS, WAITS, SHARES; FIRST_WORDS at once). The C library's memory is not among these: the runtime has a
reserve."""
import argparse
import collections
import errno
import os
import re
import subprocess
import sys
import tempfile
import time

ERRORS = {
    "mmap": ["ENOMEM"], "mprotect": ["ENOMEM"], "munmap": ["EINVAL"], "madvise": ["EINVAL"],
    "pthread_create": ["EAGAIN", "EINVAL"],
    "pthread_getattr_np": ["ENOMEM"], "pthread_key_create": ["EAGAIN"], "sigaction": ["EINVAL"],
    "sigaltstack": ["ENOMEM"],
    "pthread_sigmask": ["EINVAL"], "prctl": ["EPERM"], "getrlimit": ["EPERM"], "open": ["EMFILE", "EACCES"],
    "read": ["EIO"], "fopen": ["EMFILE"],
    "dlopen": ["ENOENT"], "malloc": ["ENOMEM"], "calloc": ["ENOMEM"], "realloc": ["ENOMEM"],
    "aligned_alloc": ["ENOMEM"],
    "posix_memalign": ["ENOMEM"], "_dl_allocate_tls": ["ENOMEM"], "sched_getcpu": ["ENOSYS"],
    "clock_getres": ["EINVAL"],
    "open_memstream": ["ENOMEM"], "gethostname": ["EFAULT"], "futex_wait": ["EINTR", "EAGAIN", "ETIMEDOUT"],
    "sched_yield": ["ENOSYS"],
    "tgkill": ["ESRCH", "EPERM", "EAGAIN"], "sched_getaffinity": ["EPERM", "ENOSYS"],
    "sched_setaffinity": ["EPERM", "EINVAL"],
    "rseq": ["EINVAL"], "get_robust_list": ["EPERM"], "mlock": ["ENOMEM", "EPERM", "EAGAIN"],
    "mbind": ["ENOSYS", "EPERM"], "get_mempolicy": ["ENOSYS"], "other_syscall": ["ENOSYS"],
}
# Refused for ever, these stop what progress rests on: only single ones are refused.
ONE_AT_A_TIME = ("futex_wait",)
LAST_WORDS = re.compile(r"psthreads: (no memory|out of memory|cannot start)")
FIRST_WORDS = re.compile(r"psthreads: (no memory for the first OpenMP thread|cannot start)")
RESERVED = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign")
# Stacks for members that wait for each other, kernel threads for members that spin for each other: the program waits
# until there are some.
WAITS = re.compile(r"psthreads: (no memory for another stack|.*refuses the watchdog|.*refuses them another kernel "
                   r"thread)", re.M)
# In the region in which the memory for thread-local variables runs out, those are the kernel thread's.
SHARES = "it uses its kernel thread's"
AS_LIBOMP = re.compile(r"^OMP: \w+ #\d+: ", re.M)  # how programs built by clang are told
MOST_LINES = 4
WAITING_SECONDS = 3  # in which a program that has said that it waits may still go on


def wait_for(process, seconds, waits):
    """Its status; None where it does not end, which a program that says what it waits for need not do."""
    begin = time.monotonic()
    while process.poll() is None:
        time.sleep(0.01)
        gone = time.monotonic() - begin
        if gone > seconds or (gone > WAITING_SECONDS and waits()):
            process.kill()
            process.wait()
            return None
    return process.returncode


def run(shim, dropin, vps, program, refusal, seconds, for_good=False):
    """(status, stdout, stderr, {name: (calls, refused)})"""
    with tempfile.NamedTemporaryFile("r", prefix="refuse.") as log:
        environment = dict(os.environ, LD_PRELOAD=shim, LD_LIBRARY_PATH=dropin, PSTHREADS_NUM_VPS=str(vps),
                           REFUSE=refusal, REFUSE_LOG=log.name)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

            def text(file):  # the program writes where the file is now: no seek
                return AS_LIBOMP.sub("", os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace"))

            process = subprocess.Popen(program.split(), env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err)
            status = wait_for(process, seconds, lambda: for_good and WAITS.search(text(err)))
            words = text(out), text(err)
        counts = {fields[0]: (int(fields[1]), int(fields[2])) for fields in map(str.split, log.read().splitlines())
                  if len(fields) == 3}
    return status, *words, counts


def judge(name, status, out, err, for_good):
    lines = [line for line in err.splitlines() if line]
    if for_good and status is None and WAITS.search(err):
        return None
    if status is None:
        return "hangs"
    if status == -6 and lines and (LAST_WORDS if for_good and name not in RESERVED
                                   else FIRST_WORDS).match(lines[-1]) and len(lines) <= MOST_LINES:
        return None
    if for_good and status == 1 and SHARES in err:
        return None
    if status != 0 or not out.endswith("right\n"):
        return f"ends with {status}"
    if len(lines) > MOST_LINES or len(set(lines)) < len(lines) or any(not line.startswith("psthreads: ")
                                                                      for line in lines):
        return "says too much"
    return None


def chosen(calls, most):
    """Numbers of calls: the first ones, which set things up, and some of the rest."""
    if calls <= most:
        return list(range(calls))
    half = most // 2
    return list(range(half)) + [half + (calls - half) * i // (most - half) for i in range(most - half)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shim")
    parser.add_argument("dropin")
    parser.add_argument("program", nargs="+")
    parser.add_argument("--most", type=int, default=4, help="calls of a function to be refused, one run each")
    parser.add_argument("--vps", type=int, nargs="+", default=[2])
    parser.add_argument("--only", nargs="+", default=sorted(ERRORS))
    parser.add_argument("--seconds", type=float, default=30)
    args = parser.parse_args()
    failed = runs = 0
    last_words = collections.Counter()
    for program in args.program:
        for vps in args.vps:
            status, out, err, counts = run(args.shim, args.dropin, vps, program, "", args.seconds)
            fault = judge(None, status, out, err, False)
            if fault or not counts.get("mmap", (0, 0))[0]:
                print(f"{program}: without any refusal: {fault or 'the shim saw no call'}: {err}")
                return 1
            print(f"{os.path.basename(program)}, {vps} vps:",
                  ", ".join(f"{name} {n}" for name, (n, _) in counts.items() if n), flush=True)
            for name in args.only:
                numbers = chosen(counts[name][0], args.most)
                plans = [(n, 1) for n in numbers] + [(n, 1 << 40) for n in numbers if name not in ONE_AT_A_TIME]
                for error in ERRORS[name] if numbers else []:
                    for first, count in plans:
                        refusal = f"{name}:{getattr(errno, error)}:{first}:{count}"
                        status, out, err, _ = run(args.shim, args.dropin, vps, program, refusal, args.seconds,
                                                  count > 1)
                        fault = judge(name, status, out, err, count > 1)
                        runs += 1
                        if status != 0 and not fault:
                            last_words[err.splitlines()[-1] if status is not None and status != 1
                                       else err.splitlines()[0]] += 1
                        if fault:
                            failed += 1
                            said = " | ".join(err.splitlines()[:3])
                            print(f"  {name} {error}, {'call' if count == 1 else 'from call'} {first} on: {fault}; "
                                  f"REFUSE={refusal}; {said}", flush=True)
    for words, n in last_words.items():
        print(f"  refused for good, {n} times: {words}")
    print(f"{runs} refusals, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
