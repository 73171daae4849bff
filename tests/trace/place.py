"""A place of the test's own with psrun, the runtimes and the recorder, and a stand-in for psthreads-report."""

import os
import pathlib
import shutil
import subprocess

from recording import Recording

HERE = pathlib.Path(__file__).resolve().parent


class Place:
    def __init__(self, build, work):
        self.work = pathlib.Path(work).resolve()
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "bin").mkdir(parents=True)
        (self.work / "lib/trace").mkdir(parents=True)
        shutil.copy2(f"{build}/bin/psrun", self.psrun)
        for folder in ("dropin", "dropin-pthreads"):
            if os.path.exists(f"{build}/lib/{folder}"):
                shutil.copytree(f"{build}/lib/{folder}", self.work / "lib" / folder, symlinks=True)
        shutil.copy2(f"{build}/lib/trace/libpsthreads-trace.so", self.work / "lib/trace")
        self.report = self.work / "lib/trace/psthreads-report"
        shutil.copy2(HERE / "report_stand_in.py", self.report)
        self.number = 0

    @property
    def psrun(self):
        return self.work / "bin/psrun"

    def run(self, *arguments, variables=None, **more):
        """psrun with these arguments, in a folder of its own."""
        self.number += 1
        self.folder = self.work / f"run{self.number}"
        self.folder.mkdir()
        return subprocess.run([self.psrun, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(variables or {})}, check=False, **more)

    def trace(self, *program, options=(), variables=None, status=0, **more):
        """(what the program has printed, its recordings by process, the program's own first)."""
        ran = self.run("--trace", "t.rec", *options, *program, variables=variables, **more)
        assert ran.returncode == status, (program, ran)
        self.said = ran.stderr
        first = self.folder / "t.rec"
        others = sorted(self.folder.glob("t-*.rec"))
        found = [Recording(path) for path in ([first] if first.exists() else []) + others]
        assert not list(self.folder.glob("*.recording")), list(self.folder.iterdir())
        return ran.stdout, found
