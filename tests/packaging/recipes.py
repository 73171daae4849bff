#!/usr/bin/env python3
"""recipes.py SOURCE BUILD VERSION - the recipes in packaging/ have the project's version, and the files of the prefix
that they name are installed. The jobs of .github/workflows/ci.yml run the steps that .ci/run runs by itself."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD, VERSION = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
PACKAGING = SOURCE / "packaging"
FOLDERS = ("apptainer", "conda", "docker", "lmod", "spack")
# Where a version is said.
VERSIONS = {
    "spack/package.py": r'^    (?:version\("|url = .*/psthreads-)(\d[\d.]*\d)',
    "conda/meta.yaml": r'^\{% set version = "([^"]*)" %\}',
    "docker/Dockerfile": r'image\.version="([^"]*)"',
    "apptainer/psthreads.def": r"image\.version (\S+)",
    "README.md": r"psthreads[@/](\d[\d.]*\d)",
    "../python/psthreads/__init__.py": r'^__version__ = "([^"]*)"',
}
# A file of the prefix: below $PREFIX or /opt/psthreads, behind `prefix, `, or alone as a word.
PREFIX = r"(?:\$PREFIX/|\$\{PREFIX\}/|/opt/psthreads/|prefix, \"|(?<![\w./\"$}-])|(?<=[ (]\"))"
FILE = re.compile(PREFIX + r"((?:bin|lib|share|include)/[\w./-]*\w)")
OTHERS = {"lib/libgomp.so.1"}  # of conda's package _openmp_mutex
wrong = []


def check_versions():
    for name, pattern in VERSIONS.items():
        found = re.findall(pattern, (PACKAGING / name).read_text(), re.M)
        if not found or set(found) != {VERSION}:
            found = " and ".join(found) or "nowhere"
            wrong.append(f"packaging/{name} has the version {found}; the project's is {VERSION}")


def check_files():
    recipes = [path for folder in FOLDERS for path in (PACKAGING / folder).iterdir() if path.is_file()]
    with tempfile.TemporaryDirectory() as folder:
        prefix = f"{folder}/prefix"
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"cmake --install {BUILD}: {done.stderr}")
        names = 0
        for path in recipes:
            for name in sorted(set(FILE.findall(path.read_text())) - OTHERS):
                names += 1
                if not (Path(prefix) / name).exists():
                    wrong.append(f"{path.relative_to(SOURCE)} names {name}, which is not installed")
        uninstall = ["cmake", f"-DPREFIX={prefix}", "-P", f"{BUILD}/uninstall.cmake"]
        subprocess.run(uninstall, capture_output=True, check=True)
    return len(recipes), names


def check_steps():
    script = (SOURCE / ".ci" / "run").read_text()
    usual = set(re.search(r"^\[ .* \] \|\| steps=\((.*)\)$", script, re.M)[1].split()) - {"install"}
    workflow = (SOURCE / ".github" / "workflows" / "ci.yml").read_text()
    matrix = re.search(r"^ +steps:\n((?: +- [a-z -]+\n)+)", workflow, re.M)[1]
    jobs = [step for line in matrix.split("\n") for step in line.replace(" - ", "").split()]
    if set(jobs) != usual or len(jobs) != len(usual):
        wrong.append(f".github/workflows/ci.yml runs {sorted(jobs)}; .ci/run has {sorted(usual)}")


check_versions()
recipes, files = check_files()
check_steps()
print("\n".join([*wrong, f"{recipes} recipes name {files} files, {len(wrong)} wrong"]))
sys.exit(bool(wrong) or not files)
