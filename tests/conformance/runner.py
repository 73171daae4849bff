"""Runs one compiled test under one runtime and says how it went."""

import os
import re
import shutil
import signal
import subprocess

WATCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run-with-watch")
OUTPUT_LIMIT = 1 << 20
BUSY = 4  # runnable threads a processor


class Runtime:
    """The libgomp.so.1 that programs get: the system's own (folder None), or the one in a folder. `emulator`: the
    command before a program, where it is another processor's."""

    def __init__(self, name, folder, environment, emulator=()):
        self.name, self.folder, self.emulator = name, folder, list(emulator)
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("OMP_", "GOMP_", "ACC_", "LD_", "PSTHREADS_"))}
        self.environment["LC_ALL"] = "C"
        if folder:
            self.environment["LD_LIBRARY_PATH"] = folder
        self.environment.update(environment)

    def loaded(self, program):
        """Every object that a run of the program initialises, as the dynamic linker tells it."""
        env = dict(self.environment, LD_DEBUG="files")
        try:
            out = subprocess.run([*self.emulator, program], env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 timeout=60).stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as e:
            out = (e.stderr or b"").decode(errors="replace")
        return set(re.findall(r"calling init: (\S+)", out))

    def impostor(self, program):
        """What is wrong with the runtime that the program gets; '' when it is the one meant, None when it asks for
        none."""
        found = {os.path.realpath(path) for path in self.loaded(program)}
        runtimes = {path for path in found if re.match(r"lib(gomp|omp|iomp)", os.path.basename(path))}
        if not self.folder:
            return ""
        meant = os.path.realpath(os.path.join(self.folder, "libgomp.so.1"))
        if runtimes != {meant}:
            return f"runs with {', '.join(sorted(runtimes))} instead of {meant}" if runtimes else None
        return ""


def reason_of(status, text):
    """Why a run failed, in a few words."""
    missing = re.search(r"undefined symbol: ([^\s,]+)", text)
    if status == 127 and missing:
        return f"missing symbol {missing.group(1)}"
    version = re.search(r"version `(\S+)' not found", text)
    if version and status == 1:
        return f"missing version {version.group(1)}"
    last = text.strip().splitlines()[-1][:120] if text.strip() else ""
    if status < 0:
        try:
            kind = signal.Signals(-status).name
        except ValueError:
            kind = f"signal {-status}"
    else:
        kind = f"exit code {status}"
    return f"{kind}: {last}" if last else kind


def keep_log(test, runtime, number):
    """The log of a run that failed, kept from the runs that follow."""
    shutil.copyfile(os.path.join(test.work, f"{runtime.name}.log"),
                    os.path.join(test.work, f"{runtime.name}.failed-{number}.log"))


def wait(child, limit_s):
    """Its status; where others keep the processors busy it gets three times as long (as tests/run-with-watch gives)."""
    for _ in range(2):
        try:
            return child.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            if os.getloadavg()[0] < BUSY * os.cpu_count():
                raise
    return child.wait(timeout=limit_s)


def run(test, runtime, limit_s):
    """'' when the test passes, else the reason. Its output, and the state of its threads when it hangs, stay in a
    log."""
    limit_s *= test.plan.timeout_factor
    env = dict(runtime.environment, **test.plan.environment)
    log = os.path.join(test.work, f"{runtime.name}.log")
    with open(log, "wb+") as out:
        child = subprocess.Popen([*runtime.emulator, test.program], cwd=test.work, env=env, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status, late = wait(child, limit_s), False
        except subprocess.TimeoutExpired:
            status, late = -signal.SIGKILL, True
            out.write(subprocess.run([WATCH, "--show", str(child.pid)], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE).stdout)
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()
        out.seek(0)
        text = out.read(OUTPUT_LIMIT).decode(errors="replace")
    if late:
        return f"timeout ({limit_s:g} s)"
    if test.plan.should_fail:
        if status == 0:
            return "ends well where it must fail"
    elif status:
        return reason_of(status, text)
    if test.plan.output and not re.search(test.plan.output, text.replace("\r\n", "\n")):
        return "output is not what is expected"
    return ""
