"""LLVM's own openmp/runtime/test from Debian's llvm-toolchain source: got, unpacked, and run by lit. Nothing of it is
kept in the project."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAJOR = "19"
LLVM = f"/usr/lib/llvm-{MAJOR}"
LIT = f"{LLVM}/build/utils/lit/lit.py"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
PASSED, FAILED, NOT_RUN = ("PASS", "XFAIL"), ("FAIL", "TIMEOUT", "UNRESOLVED",
                                              "XPASS"), ("UNSUPPORTED", "EXCLUDED", "SKIPPED")


class SuiteError(Exception):
    pass


def source_line():
    """The deb-src line that belongs to the repository which has the compiler."""
    rows = subprocess.run(["apt-cache", "madison", f"clang-{MAJOR}"], stdout=subprocess.PIPE, check=False,
                          text=True).stdout
    found = re.search(r"\| (\S+://\S+) (\S+)/(\S+) \S+ Packages", rows)
    if not found:
        raise SuiteError(f"no repository has clang-{MAJOR}: nowhere to get llvm-toolchain-{MAJOR}'s source from")
    uri, suite, component = found.groups()
    signed = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
    return f"deb-src {signed}{uri} {suite} {component}\n"


def download(folder):
    """The upstream tarball, checked by apt, and no more: the system's own lists and sources are left alone."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "lists", "partial"))
    sources = os.path.join(folder, "source.list")
    with open(sources, "w", encoding="ascii") as f:
        f.write(source_line())
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={folder}/lists", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Cache::pkgcache=",
           "-o", "APT::Sandbox::User="]
    for step in (["update"], ["source", "--download-only", "--only-source", f"llvm-toolchain-{MAJOR}"]):
        done = subprocess.run(apt + step, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, text=True)
        if done.returncode:
            raise SuiteError(f"apt-get {' '.join(step)}: {done.stdout.strip().splitlines()[-1]}")
    return glob.glob(os.path.join(folder, "*.orig.tar.*"))[0]


def unpack(folder):
    """The suite's folder: downloaded once, of the tarball only what the tests need."""
    test = os.path.join(folder, "source", "openmp", "runtime", "test")
    stamp = os.path.join(folder, "unpacked")
    if not os.path.exists(stamp) or not os.path.exists(os.path.join(folder, "source", "openmp", "libompd")):
        print(f"getting llvm-toolchain-{MAJOR}'s source (160 MB)", file=sys.stderr, flush=True)
        download_folder = os.path.join(folder, "download")
        tarball = download(download_folder)
        os.makedirs(os.path.join(folder, "source"), exist_ok=True)
        subprocess.run(["tar", "-x", "-f", tarball, "-C", os.path.join(folder, "source"), "--strip-components=1",
                        "--wildcards",
                        "*/openmp/runtime/test/*", "*/openmp/runtime/src/kmp_platform.h", "*/openmp/libompd/test/*"],
                       check=True)
        shutil.rmtree(download_folder)
        with open(stamp, "w", encoding="ascii") as f:
            f.write(os.path.basename(tarball) + "\n")
    return test


def libomp():
    """(its folder, its headers' folder): what tools/get-libomp has unpacked."""
    subprocess.run([os.path.join(ROOT, "tools", "get-libomp")], check=True)
    base = os.path.join(ROOT, ".cache", "peers", f"libomp5-{MAJOR}", LLVM[1:], "lib")
    header = os.path.join(base, "clang", MAJOR, "include")
    if not os.path.exists(os.path.join(header, "omp.h")):
        raise SuiteError(f"no libomp {MAJOR}: tools/get-libomp could not get it")
    return base, header


def configure(folder, test, runtime, environment):
    """A lit.site.cfg, which loads the suite's own configuration; programs are linked to libomp and find `runtime`."""
    for need in (LIT, f"{LLVM}/bin/FileCheck", f"/usr/bin/clang-{MAJOR}"):
        if not os.path.exists(need):
            raise SuiteError(
                f"no {need}: install clang-{MAJOR} and llvm-{MAJOR}-tools (tools/install-deps conformance)")
    library, header = libomp()
    once = os.path.join(HERE, "compile-once")
    values = {
        "test_c_compiler": f"{once} clang-{MAJOR}", "test_cxx_compiler": f"{once} clang++-{MAJOR}",
        "test_compiler_features": ["clang", *(f"clang-{v}" for v in range(1, int(MAJOR) + 1))],
        "test_compiler_has_omp_h": False,
        "test_filecheck": f"{LLVM}/bin/FileCheck", "test_not": f"{LLVM}/bin/not",
        "test_openmp_flags": "-fopenmp=libomp",
        "test_extra_flags": "-w", "libomp_obj_root": os.path.join(folder, "work"), "library_dir": library,
        "omp_header_directory": header, "operating_system": "Linux", "hwloc_library_dir": "", "using_hwloc": False,
        "has_ompt": True,
        "has_ompx_taskgraph": False, "has_libm": True, "has_libatomic": True, "is_standalone_build": True,
        "has_omit_frame_pointer_flag": True, "target_arch": os.uname().machine,
    }
    os.makedirs(os.path.join(folder, "work"), exist_ok=True)
    with open(os.path.join(folder, "work", "lit.site.cfg"), "w", encoding="utf-8") as f:
        for name, value in values.items():
            f.write(f"config.{name} = {value!r}\n")
        f.write(f"lit_config.load_config(config, {os.path.join(test, 'lit.cfg')!r})\n")
        f.write(f"config.environment['LD_LIBRARY_PATH'] = {runtime or library!r}\n")
        for name, value in environment.items():
            f.write(f"config.environment[{name!r}] = {value!r}\n")
    return os.path.join(folder, "work")


def run(folder, test, runtime, environment, names, jobs, limit_s):
    """{name: (code, output)} of the tests named (None: all), as lit says; names are paths below the suite."""
    work = configure(folder, test, runtime, environment)
    result = os.path.join(folder, "lit.json")
    if os.path.exists(result):
        os.unlink(result)
    what = [work] if names is None else [os.path.join(work, name) for name in names]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_", "LD_", "PSTHREADS_"))}
    with open(os.path.join(folder, "lit.log"), "wb") as log:
        done = subprocess.run(["/usr/bin/python3", LIT, "-q", "-j", str(jobs), "--timeout", str(limit_s), "-o", result,
                               *what],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=clean, check=False)
    if not os.path.exists(result):
        with open(log.name, encoding="utf-8", errors="replace") as log:
            raise SuiteError(f"lit ended with {done.returncode}: {log.read()[-500:]}")
    with open(result, encoding="utf-8") as f:
        tests = json.load(f)["tests"]
    return {t["name"].split(" :: ", 1)[1]: (t["code"], t["output"]) for t in tests}
