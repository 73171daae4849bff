import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Psthreads(CMakePackage):
    """OpenMP runtime of user-level threads on a fixed number of workers. It takes the place
    of libgomp and libomp under programs as they are: psrun ./program."""

    # There is no archive on the network: `spack dev-build` builds a source tree, and
    # `spack install` takes psthreads-VERSION.tar.gz of the current folder, or of a mirror.
    manual_download = True
    url = f"file://{os.getcwd()}/psthreads-0.1.0.tar.gz"

    license("MIT")

    # A repository that takes over this recipe adds the sha256 of the release's SHA256SUMS.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")  # the manual pages
    depends_on("python@3.9:", type="build")

    requires("platform=linux", msg="the OpenMP runtime is for Linux")
    requires("target=x86_64:", msg="the OpenMP runtime is for x86-64")
    requires("%gcc", msg="GCC builds the OpenMP runtime; programs may come from other compilers")

    generator("ninja")

    build_targets = ["product"]

    sanity_check_is_file = [
        "bin/psrun",
        "include/psthread.h",
        "lib/psthreads/dropin/libgomp-psthreads.so",
        "lib/psthreads/pools/libpsthreads-pools.so",
        "lib/psthreads/trace/libpsthreads-trace.so",
    ]

    def cmake_args(self):
        return [
            self.define("PS_TESTS", False),
            self.define("PS_BENCH", False),
            # No package of this recipe: the compiler of task queues, the layers over MPI
            self.define("PS_LIBCLANG_HEADERS", False),
            self.define("PS_MPICC_openmpi", False),
            self.define("PS_MPICC_mpich", False),
            # `ninja install` installs what `product` has built, and builds nothing else
            self.define("CMAKE_SKIP_INSTALL_ALL_DEPENDENCY", True),
        ]

    def test_version(self):
        """psrun says its version"""
        psrun = which(self.prefix.bin.psrun)
        out = psrun("--version", output=str.split, error=str.split)
        assert str(self.spec.version) in out
