#!/usr/bin/python3
"""dump_test.py DEADLOCK LATE DROPIN PSRUN WORK - the deadlock report, PSTHREADS_DUMP on request, psrun dump, and that
none of them cries wolf. What was stolen is counted.

DEADLOCK (deadlock.c) can never go on: one report names its six threads, with what each waits for and where. The process
stays. LATE (late.c) is woken by a kernel thread that the runtime does not know, or sleeps in a system call. There is no
report. A request for a dump is answered, and shows which thread holds the processor; a forked child answers too."""

import os
import re
import shutil
import subprocess
import sys
import time

failures = []


def expect(true, what, text=""):
    if not true:
        failures.append(what)
        print(f"wrong: {what}\n{text}")


def wait_for(condition):
    """What never comes is found by the watcher of this test."""
    while not condition():
        time.sleep(0.1)


def check_waiters(text, what):
    lines = [line for line in text.splitlines() if ": waits for" in line]
    expect(len(lines) == 6, f"{what}: {len(lines)} threads wait, not 6", text)
    locks = [line for line in lines if re.search(r"OpenMP thread 1 of 3, level 2\).*OpenMP's word.* \(wait_for_lock\)$",
                                                 line)]
    expect(len(locks) == 2, f"{what}: {len(locks)} wait in wait_for_lock, not 2", text)
    barriers = [line for line in lines if re.search(r"barrier of team .* at \S+\+0x[0-9a-f]+ \(main\._omp_fn", line)]
    expect(len(barriers) == 4, f"{what}: {len(barriers)} wait in barriers, not 4", text)


def start(program, dropin, dump, *arguments):
    environment = {**os.environ, "LD_LIBRARY_PATH": dropin, "PSTHREADS_NUM_VPS": "2", "PSTHREADS_DUMP": dump}
    return subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def deadlock(program, dropin, psrun, work):
    dump = os.path.join(work, "deadlock.%p")
    process = start(program, dropin, dump)
    path = dump.replace("%p", str(process.pid))
    wait_for(lambda: os.path.exists(path))
    expect(process.poll() is None, "the process that deadlocks has ended")
    if os.path.exists(path):
        check_waiters(content(path), "PSTHREADS_DUMP")
    done = subprocess.run([psrun, "dump", str(process.pid)], capture_output=True, text=True)
    if "cannot be read" in done.stderr:
        print("psrun dump may not look at other processes here:", done.stderr)
    else:
        check_waiters(done.stdout, "psrun dump")
        expect(re.search(r"vp 0 \(regular, LWP \d+\): sleeps", done.stdout), "psrun dump shows no vp", done.stdout)
    process.kill()
    errors = process.communicate()[1]
    expect(errors.count("deadlock: all 6 threads") == 1, "not one deadlock report", errors)
    check_waiters(errors, "the report")


def late(program, dropin, work):
    process = start(program, dropin, os.path.join(work, "late"))
    output, errors = process.communicate()
    expect(output == "done\n" and process.returncode == 0, "late.c does not end well", output + errors)
    expect("deadlock" not in errors, "a deadlock is reported where there is none", errors)
    expect(not os.path.exists(os.path.join(work, "late")), "a dump was written that was not asked for")


def request(program, dropin, work):
    dump = os.path.join(work, "request")
    process = start(program, dropin, dump, "stay")
    process.stdout.readline()
    with open(dump + ".request", "w", encoding="utf-8"):
        pass
    wait_for(lambda: not os.path.exists(dump + ".request"))
    text = content(dump) if os.path.exists(dump) else ""
    # a guest carries the member where a busy machine let both vps look held
    expect(re.search(r"vp \d+ \((?:regular|guest), LWP \d+\): runs thread 0x[0-9a-f]+ "
                     r"\(OpenMP thread 1 of 3, level 1\), no scheduling", text),
           "the dump does not show who sleeps in the kernel", text)
    process.kill()
    errors = process.communicate()[1]
    expect("deadlock" not in errors, "a member that sleeps in the kernel is taken for a deadlock", errors)


def steals(program, dropin, psrun, work):
    process = start(program, dropin, os.path.join(work, "steal"), "steal")
    process.stdout.readline()
    done = subprocess.run([psrun, "dump", str(process.pid)], capture_output=True, text=True)
    if "cannot be read" not in done.stderr:
        found = re.findall(r"^vp \d+ .*\n  steals by distance: (?:machine|guests) [1-9]\d*(?:, guests [1-9]\d*)?$",
                           done.stdout, re.M)
        expect(found, "psrun dump shows no steal, where there was one", done.stdout)
    process.kill()
    process.communicate()


def request_of_child(program, dropin, work):
    dump = os.path.join(work, "family.%p")
    process = start(program, dropin, dump, "fork")
    lines = sorted((process.stdout.readline(), process.stdout.readline())) # the child's number, and its "ready"
    path = dump.replace("%p", lines[0].strip())
    with open(path + ".request", "w", encoding="utf-8"):
        pass
    wait_for(lambda: os.path.exists(path))
    text = content(path) if os.path.exists(path) else ""
    expect(re.search(rf"process {lines[0].strip()}: ", text), "a forked child answers no request", text)
    os.kill(int(lines[0]), 9)
    process.communicate()


def main():
    deadlock_program, late_program, dropin, psrun, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    deadlock(deadlock_program, dropin, psrun, work)
    late(late_program, dropin, work)
    request(late_program, dropin, work)
    steals(late_program, dropin, psrun, work)
    request_of_child(late_program, dropin, work)
    for arguments in (["dump"], ["dump", "x"], ["dump", str(os.getpid())]):
        expect(subprocess.run([psrun, *arguments], capture_output=True).returncode, f"psrun {arguments} is not refused")
    shutil.rmtree(work)
    return 1 if failures else 0


sys.exit(main())
