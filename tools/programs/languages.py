"""Programs in other languages that call C with OpenMP (work/kernel.c), each by its own language's bridge. Where the
language allows it the members of teams call back."""

import shutil
from pathlib import Path

from entry import WORK, NotHere, Program, built, system

GO_FILES = "cgo_work.go"


def kernel_library(place):
    """libkernel.a, for programs whose linker is not gcc."""
    place.make(system("gcc"), "-O2", "-fPIC", "-fopenmp", "-c", WORK / "kernel.c", "-o", "kernel.o")
    place.make(system("ar"), "rcs", "libkernel.a", "kernel.o")


def prepare_java(place):
    home = Path(system("javac")).resolve().parent.parent
    if not (home / "include/jni.h").exists():
        raise NotHere("no jni.h beside javac")
    place.make(system("javac"), "-d", ".", WORK / "JniWork.java")
    place.make(system("gcc"), "-O2", "-fPIC", "-shared", "-fopenmp", "-I", home / "include", "-I",
               home / "include/linux", WORK / "jni_work.c", WORK / "kernel.c", "-o", "libjni_work.so")


def prepare_go(place):
    kernel_library(place)
    place.make(system("go"), "build", "-o", "cgo_work", WORK / GO_FILES,
               environment={"GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local",
                            "GOCACHE": str(place.inputs / "cache"), "HOME": str(place.inputs), "CGO_ENABLED": "1",
                            "CGO_CFLAGS": f"-O2 -I{WORK}", "CGO_LDFLAGS": f"-L{place.inputs} -lkernel -lgomp"})


def prepare_rust(place):
    kernel_library(place)
    place.make(system("rustc"), "-O", WORK / "rust_work.rs", "-L", place.inputs, "-l", "static=kernel", "-l", "gomp",
               "-o", "rust_work")


def prepare_node(place):
    found = [folder for folder in ("/usr/include/node", "/usr/include/nodejs/src") if
             (Path(folder) / "node_api.h").exists()]
    if not found or not shutil.which("node"):
        raise NotHere("no node with node_api.h")
    place.make(system("gcc"), "-O2", "-fPIC", "-shared", "-fopenmp", "-I", found[0], WORK / "node_work.c",
               WORK / "kernel.c", "-o", "node_work.node")


LANGUAGES = [
    Program("Java, through JNI", "built here", lambda place: [system("java"), "-cp", place.inputs, "JniWork",
                                                              place.inputs / "libjni_work.so"],
            apt=["default-jdk-headless|openjdk-*-jdk-headless", "gcc"], prepare=prepare_java, tolerance=0, quick=True,
            doctor=built("libjni_work.so")),
    Program("Go, through cgo", "built here", lambda place: [place.inputs / "cgo_work"], apt=["golang-go", "gcc"],
            prepare=prepare_go, tolerance=0, doctor=built("cgo_work")),
    Program("Rust", "built here", lambda place: [place.inputs / "rust_work"], apt=["rustc", "gcc"],
            prepare=prepare_rust, tolerance=0, doctor=built("rust_work")),
    Program("Node, a native addon", "built here", lambda place: [system("node"), WORK / "node_work.js",
                                                                place.inputs / "node_work.node"],
            apt=["nodejs", "libnode-dev|nodejs", "gcc"], prepare=prepare_node, tolerance=0,
            doctor=built("node_work.node")),
]
