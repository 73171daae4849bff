#!/usr/bin/env python3
"""package_test.py SOURCE BUILD VERSION - the Python package: psrun as it starts it, enable(), info() and limit(). Each
case is a process of its own. BUILD/tests/python has a library that opens regions, linked to a runtime whose regions
have one member: more members mean that ours has been found before it. BUILD/tests/pools has a stand-in for NumPy's
OpenBLAS: a product of it tells how many jobs it had, and 0 where no pool of ours has taken them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, VERSION = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
# Another package than the source tree's, and its runtime: an installed wheel's (packaging/wheel/test).
PACKAGE, HOME = Path(os.environ.get("PACKAGE", SOURCE / "python")), os.environ.get("RUNTIME", str(BUILD))
LIBGOMP = next(path.resolve().name for place in ("lib", "lib/psthreads")
               for path in [Path(HOME) / place / "dropin/libgomp.so.1"] if path.exists())
LIBRARIES = BUILD / "tests/python"
COMPUTES, BLAS = LIBRARIES / "libcomputes.so", BUILD / "tests/pools/libfake_scipy.so"
HEAD = f"""
import ctypes, json, os, sys, psthreads
def computes():
    return ctypes.CDLL({str(COMPUTES)!r})
def blas():
    return ctypes.CDLL({str(BLAS)!r})
"""


def python(*args, package=PACKAGE, home=HOME, **environment):
    """The finished process of this interpreter, with the package."""
    variables = {**os.environ, "PYTHONPATH": str(package), "PSTHREADS_HOME": home, "OPENBLAS_NUM_THREADS": "4",
                 **environment}
    return subprocess.run([sys.executable, *args], env=variables, capture_output=True, text=True)


class Case(unittest.TestCase):
    def said(self, done, status=0):
        """The JSON that the process has printed."""
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return json.loads(done.stdout)

    def code(self, text, **environment):
        """What this code prints in a process without psrun."""
        return self.said(python("-c", HEAD + text, **environment))

    def one_line(self, done, status, *parts):
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)


class Start(Case):
    """python -m psthreads"""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def script(self, text, name="script.py"):
        (self.folder / name).write_text(HEAD + text)
        return str(self.folder / name)

    def test_script(self):
        script = self.script("print(json.dumps([sys.argv[1:], computes().members(3), psthreads.is_enabled()]))\n"
                             "sys.exit(7)")
        self.assertEqual(self.said(python("-m", "psthreads", script, "a", "-n", "--", "b c"), 7),
                         [["a", "-n", "--", "b c"], 3, True])

    def test_module(self):
        name = Path(self.script("print(json.dumps([sys.argv[1:], computes().members(3)]))", "a_module.py")).stem
        done = python("-m", "psthreads", "-m", name, "-c", package=f"{self.folder}:{SOURCE / 'python'}")
        self.assertEqual(self.said(done), [["-c"], 3])

    def test_code(self):
        text = HEAD + "print(json.dumps([sys.argv, computes().members(3)]))"
        self.assertEqual(self.said(python("-m", "psthreads", "-c", text, "x")), [["-c", "x"], 3])

    def test_same_interpreter_and_its_options(self):
        text = "import json, sys; print(json.dumps([sys.executable, sys.flags.optimize, sys._xoptions]))"
        self.assertEqual(self.said(python("-O", "-X", "utf8", "-m", "psthreads", "--", "-X", "two", "-c", text)),
                         [sys.executable, 1, {"utf8": True, "two": True}])

    def test_options_of_psrun(self):
        text = "import json, os; print(json.dumps(os.environ['OMP_NUM_THREADS']))"
        for options in (["-n", "3,2"], ["--threads", "3,2"], ["--threads=3,2"], ["-n3,2"]):
            self.assertEqual(self.said(python("-m", "psthreads", *options, "-c", text)), "3,2")

    def test_mistakes(self):
        self.one_line(python("-m", "psthreads", "-n", "none", "x.py"), 125, "-n none")
        self.one_line(python("-m", "psthreads", "-n", "2"), 125, "no program given")

    def test_help(self):
        for options in ([], ["-h"], ["--help"]):
            done = python("-m", "psthreads", *options)
            self.assertEqual(done.returncode, 0)
            self.assertIn("python -m psthreads [options] script.py", done.stdout)

    def test_doctor(self):
        done = python("-m", "psthreads", "doctor", self.script("blas()"))
        self.assertIn(os.path.basename(sys.executable), done.stdout)

    def test_info(self):
        self.script("blas()", "uses_blas.py")
        done = python("-m", "psthreads", "info", "uses_blas", package=f"{self.folder}:{SOURCE / 'python'}")
        self.assertIn(BLAS.name, [Path(entry["filepath"]).name for entry in self.said(done)])
        self.one_line(python("-m", "psthreads", "info", "no_such_module"), 1, "no_such_module")


class Find(Case):
    """Which runtime is taken."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(SOURCE / "python/psthreads", self.folder / "site/psthreads",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.alone = {"package": self.folder / "site", "home": ""}

    def test_none(self):
        done = python("-m", "psthreads", "-c", "pass", PATH="", **self.alone)
        self.one_line(done, 1, "no runtime in", "PSTHREADS_HOME")

    def test_in_the_package(self):
        (self.folder / "site/psthreads/_runtime").symlink_to(BUILD)
        self.assertEqual(self.code("psthreads.enable(); print(computes().members(3))", PATH="", **self.alone), 3)

    def test_on_path(self):
        done = python("-m", "psthreads", "-c", HEAD + "print(computes().members(3))", PATH=f"{BUILD}/bin", **self.alone)
        self.assertEqual(self.said(done), 3)

    def test_home_first(self):
        (self.folder / "site/psthreads/_runtime").symlink_to("/nowhere")
        self.assertEqual(self.code("psthreads.enable(); print(computes().members(3))", PATH="",
                                   package=self.folder / "site"), 3)

    def test_wrong_home(self):
        done = python("-c", "import psthreads; print(psthreads.enable())", home="/nowhere", PATH=f"{BUILD}/bin",
                      package=self.folder / "site")
        self.assertEqual(done.stdout, "True\n")
        self.assertEqual(done.stderr, "psthreads: PSTHREADS_HOME=/nowhere: there is no bin/psrun with its libraries; "
                                      "the runtime is looked for elsewhere\n")

    def test_version(self):
        self.assertEqual(self.code("print(json.dumps(psthreads.__version__))"), VERSION)


class Enable(Case):
    def test_without(self):
        self.assertEqual(self.code("print(json.dumps([psthreads.is_enabled(), computes().members(3)]))"), [False, 1])

    def test_with(self):
        self.assertEqual(self.code("print(json.dumps([psthreads.enable(), psthreads.enable(), psthreads.is_enabled(),"
                                   " computes().members(3)]))"), [True, False, True, 3])

    def test_under_psrun(self):
        done = python("-m", "psthreads", "-c", HEAD + "print(json.dumps([psthreads.is_enabled(), psthreads.enable()]))")
        self.assertEqual(self.said(done), [True, False])

    def test_too_late(self):
        self.assertIn("libgomp-0123abcd.so is loaded already",
                      self.code("computes()\ntry: psthreads.enable()\n"
                                "except RuntimeError as error: print(json.dumps(str(error)))"))

    PRODUCT = "blas().scipy_fake_product64_()"

    def test_openblas(self):
        self.assertEqual(self.code(f"print({self.PRODUCT})"), 0)
        self.assertGreater(self.code(f"psthreads.enable(); print({self.PRODUCT})"), 0)

    def test_openblas_before(self):
        self.assertGreater(self.code(f"blas(); psthreads.enable(); print({self.PRODUCT})"), 0)

    def test_after_info(self):
        """The library that counts was loaded before the runtime."""
        self.assertEqual(self.code("psthreads.info(); psthreads.enable(); "
                                   f"print(json.dumps([computes().members(3), {self.PRODUCT} > 0]))"), [3, True])

    def test_no_pools(self):
        self.assertEqual(self.code(f"psthreads.enable(); print({self.PRODUCT})", PSTHREADS_POOLS="none"), 0)

    def test_forked_child(self):
        self.assertEqual(self.code("psthreads.enable(); here = computes().members(3); child = os.fork()\n"
                                   "if child == 0: os._exit(computes().members(5))\n"
                                   "print(json.dumps([here, os.waitpid(child, 0)[1] >> 8]))",
                                   PYTHONWARNINGS="ignore"), [3, 5])

    def test_threads_of_python(self):
        self.assertEqual(self.code("from concurrent.futures import ThreadPoolExecutor\npsthreads.enable()\n"
                                   "with ThreadPoolExecutor(4) as pool:\n"
                                   "    print(list(pool.map(computes().members, [3] * 100)).count(3))"), 100)


class Limit(Case):
    NUMBERS = """
def numbers():
    return [ctypes.CDLL(None).omp_get_max_threads(), blas().scipy_openblas_get_num_threads64_()]
psthreads.enable()
blas()
"""

    def numbers(self, text):
        return self.code(self.NUMBERS + text, OMP_NUM_THREADS="3")

    def test_block(self):
        self.assertEqual(self.numbers("found = [numbers()]\nwith psthreads.limit(2): found.append(numbers())\n"
                                      "found.append(numbers()); print(json.dumps(found))"), [[3, 4], [2, 2], [3, 4]])

    def test_lower_already(self):
        self.assertEqual(self.numbers("with psthreads.limit(2):\n    with psthreads.limit(8): print(numbers())"),
                         [2, 2])

    def test_several_threads(self):
        """The block that ends first is not the one that began last."""
        self.assertEqual(self.numbers("blocks = psthreads.limit(1), psthreads.limit(2)\nfound = []\n"
                                      "for block in blocks: block.__enter__()\n"
                                      "for block in blocks:\n    block.__exit__(None, None, None)\n"
                                      "    found.append(numbers()[1])\nprint(json.dumps(found))"), [2, 4])

    def test_decorator(self):
        self.assertEqual(self.numbers("@psthreads.limit(1)\ndef f(): return numbers()\n"
                                      "print(json.dumps([f(), numbers(), f()]))"), [[1, 1], [3, 4], [1, 1]])

    def test_exception(self):
        self.assertEqual(self.numbers("try:\n    with psthreads.limit(1): 1 / 0\n"
                                      "except ZeroDivisionError: print(json.dumps(numbers()))"), [3, 4])

    def test_bad_number(self):
        self.assertEqual(self.numbers("try:\n    with psthreads.limit(0): pass\n"
                                      "except ValueError as error: print(json.dumps(str(error)))"),
                         "psthreads.limit(0): wanted a number of threads from 1")

    def test_without_the_runtime(self):
        self.assertEqual(self.code("f = blas().scipy_openblas_get_num_threads64_\n"
                                   "with psthreads.limit(2): inside = f()\nprint(json.dumps([inside, f()]))"), [2, 4])


class Info(Case):
    def entry(self, text, name):
        found = [entry for entry in self.code(text + "; print(json.dumps(psthreads.info()))")
                 if Path(entry["filepath"]).name == name]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_openblas(self):
        for text, ours in (("blas()", "could be"), ("psthreads.enable(); blas()", "yes")):
            entry = self.entry(text, BLAS.name)
            self.assertEqual([entry[name] for name in ("user_api", "internal_api", "num_threads", "ours")],
                             ["blas", "openblas", 4, ours])
            self.assertTrue(entry["advice"])

    def test_runtime(self):
        entry = self.entry("psthreads.enable(); computes()", LIBGOMP)
        self.assertEqual((entry["user_api"], entry["internal_api"], entry["ours"]), ("openmp", "openmp", "yes"))

    def test_copy(self):
        self.assertEqual(self.entry("psthreads.enable(); computes()", "libgomp-0123abcd.so")["ours"], "yes")
        self.assertNotEqual(self.entry("computes()", "libgomp-0123abcd.so")["ours"], "yes")


class Jupyter(Case):
    def test_without_ipykernel(self):
        done = python("-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE / 'python')!r}); sys.argv[1:] = "
                      "['jupyter', 'install']; import runpy; runpy.run_module('psthreads', run_name='__main__')")
        self.one_line(done, 1, "No module named", "pip install ipykernel")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
