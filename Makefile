# The thin face of the build: CMake with Ninja does the work. `make help` says what there is.

BUILD   ?= build
JOBS    ?= $(shell nproc)
PREFIX  ?= /usr/local
# Two for each processor and one more: most of the time a test waits.
CTEST   := ctest --output-on-failure --no-tests=error -j $(shell expr 2 \* $(JOBS) + 1)
CMAKE   := cmake
STRICT  := $(if $(CI),-DPS_WERROR=ON)
# Looks anew for what was not installed yet when the build was configured.
CONFIGURE_ANEW = test ! -f $(BUILD)/build.ninja || $(CMAKE) -S . -B $(BUILD) >/dev/null
SOURCES  = $(shell git ls-files -- '*.c' '*.h' '*.cc' '*.cpp' ':!include/TAMPIf.h') # that one is Fortran

.PHONY: product all help help-developers library uninstall demo manycore manycore-long manycore-apps programs mpi \
    check-long check-peers check-by-hand check-kernel \
    check test models guarantees fuzz refuse soak check-ports conformance conformance-gnu conformance-llvm \
    conformance-newer conformance-repeat conformance-speed asan tsan ubsan shake release-roots release-programs \
    release-suites debug-links bench bench-grains bench-traces bench-waiting bench-plots install install-manycore \
    install-apps format format-check lint clean

# What a user installs.
product: $(BUILD)/build.ninja
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target product

# And everything that is there to test and to measure it.
all: $(BUILD)/build.ninja
	$(CMAKE) --build $(BUILD) -j $(JOBS)

help:
	@sed -n 's/^## //p' Makefile

help-developers: help
	@sed -n 's/^### //p' Makefile

## make              build what is installed (the runtime, the library, psrun) in build/
## make install      the same, put into PREFIX=/usr/local (and DESTDIR); make uninstall takes it away from there
## make install-manycore, install-apps  the same of the virtual manycore, and of the applications facedetect and pcure
## make demo         install what is missing, build, and show the main job (about five minutes)
## make check        install what is missing, build, run the tests (at most five minutes)
## make all          build tests, benchmarks and applications too
## make programs     programs of Debian and PyPI under their own runtime and under us (installs gigabytes; at most a
##                   quarter of an hour; tools/programs/run --quick: less of it)
## make mpi          MPI programs under psrun: install what is missing, build, run the tests (a minute)
## make manycore     the virtual manycore: install what is missing, build, run the examples (three minutes)
## make bench        the goals, measured beside the peers (about 25 minutes; QUICK=1: about 5)
## make reference    the reference of psthread.h and psthread.hpp as HTML, in build/reference/html (by Doxygen)
## make wheel        the Python package with psrun and the runtime in it, in build/wheel (pip install)
## make packages     Debian packages of the last commit, in build/packages (three minutes; packaging/deb/README.md)
## make clean        take away what was built; results of make demo stay
## make help-developers  what else there is

### make python       PyPI's wheels with the Python package and without it (the network; four minutes, WHEELS="..."
###                   some of the jobs), and timelines as Perfetto reads them
### make release      the archive of the last commit with notes and checksums; PREVIOUS=folder: abidiff to that
###                   build folder
### make wheel-check   that wheel in a virtual environment: installed, used, taken away (PyPI for its tools)
### make packages-check     those packages on Debian 12 and 13, in root folders (root, the network; SUITE=bookworm:
###                   this one)
### make old-systems     the runtime and the wheel on Debian 11, 12 and 13, each in a root folder (root, the network;
###                   six minutes; SYSTEMS="bullseye /root/folder": these)
### make guarantees   what programs rely on (tests/guarantees), REPEAT=1 times; 100 take about an hour
### make fuzz         random values of every environment variable, CASES=5000 of them
### make random       random OpenMP programs that check themselves, SEEDS=1-1000 of them (tests/random)
### make refuse       each call of the system that the runtime makes fails in turn (about half an hour)
### make soak         everything that programs rely on, mixed in one process for SOAK=1800 seconds: nothing hangs,
###                   nothing grows
### make models       the protocols' Promela models, searched by spin (two minutes)
### make check-ports  the other processors' ports, cross-built and run under qemu-user (ALL=1: all
###                   programs; half an hour)
### make check-kernel     AArch64's programs that fork, its signals and its library under a kernel, in an emulator
### make conformance  libgomp's and libomp's own test suites, under each and under us (conformance-gnu,
###                   conformance-llvm: one of them)
### make conformance-newer    the suite of a GCC that is newer than the system's (GCC=16), built and run in a Debian of
###                           its own (needs root)
### make conformance-repeat   libgomp's suite RUNS=20 times whole under each of nine settings (half a minute a run;
###                           SETTINGS="nested threads-8": these)
### make conformance-speed    libgomp's own programs with tasks, timed under libgomp and under us (a few minutes, on a
###                           quiet machine)
### make conformance-flang   libgomp's Fortran programs, built by flang, under libomp and under us
### make manycore-apps    the manycore paper's six applications: table 1, figures 17 to 20, pictures in
###                   build/bench/manycore (three minutes; FULL=1: larger inputs, half an hour; KEEP=1: rows and
###                   pictures into bench/results and docs; PEERS as of make bench)
### make check-long   what make check leaves out: kernel threads, clang, other numbers of vps, instruction counts; the
###                   virtual manycore, the applications, the benchmarks' programs
### make check-peers  the tests' programs under libgomp and libomp: a program that fails there is wrong itself
### make check-by-hand    tests that take minutes each, or the network: the manycore applications at length, mpi4py's
###                   own tests
### make manycore-study   the manycore paper measured anew, its ways and ours: regions, the network, the applications
###                   (QUICK=1: small inputs, 64 cores; KEEP=1: into the repository)
### make manycore-long   its random tests at length (six minutes; TIMES=100: a tenth of them)
### make asan|tsan|ubsan   build in build-<name>/ and run the tests there (asan: address and undefined)
### make debug-links  the libraries alone, as the preset debug compiles them: they link without an optimiser (a minute)
### make release-roots   a build where every root that waits is released at every opportunity, and its tests
### make release-programs   that build's runtime under the programs of make's: guarantees and constructs of both
###                   compilers (PART=K/N: each Nth from the Kth on; RUNS=1: so often)
### make release-suites     the same with the suites of make conformance
### make shake        a build where atomic operations now and then wait first (src/base/shake.h), and its tests
### make bench-grains     applications with smaller and larger tasks, beside the peers (about five minutes)
### make bench-traces     what a trace costs, beside libomp with a tracer (about five minutes)
### make bench-waiting    regions whose members wait for one another, block or spin, beside the peers (about fifteen
###                   minutes; QUICK=1: three)
### make bench-plots  the papers' figures and tables, measured beside the peers (about ten minutes)
### make library      the threads library alone, in build-library/
### make format|format-check|lint   clang-format, clang-tidy
### KEEP=1              of make bench, bench-grains, bench-waiting, bench-plots, demo, programs: the results go into the
###                     repository; PEERS="NAME=LIBRARY ...": other runtimes beside

$(BUILD)/build.ninja: | configure
.PHONY: configure
configure:
	@tools/install-deps -n build
	@test -f $(BUILD)/build.ninja || $(CMAKE) -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release \
	    -DCMAKE_INSTALL_PREFIX="$(PREFIX)" $(STRICT)

.PHONY: reference
reference:
	tools/install-deps reference
	tools/make-reference . $(shell grep -m1 -oE '[0-9]+\.[0-9]+\.[0-9]+' CMakeLists.txt) \
	    $(BUILD)/reference

demo:
	tools/install-deps build demo
	@$(CONFIGURE_ANEW)
	$(MAKE) $(BUILD)/build.ninja
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target demo_programs
	tools/demo --build $(BUILD)
	$(if $(KEEP),cp $(BUILD)/demo/plot.png docs/demo.png && cp $(BUILD)/demo/table.txt bench/results/demo.txt && \
	    cp $(BUILD)/demo/results.json bench/results/demo.json)

check:
	tools/install-deps build check
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) test

test: $(BUILD)/build.ninja
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target check_programs
	cd $(BUILD) && $(CTEST) -LE '^(models|long|by_hand|apps|bench|manycore|mpi)$$'

models:
	tools/install-deps build check
	$(MAKE) all
	cd $(BUILD) && $(CTEST) -L '^models$$'

guarantees: all
	cd $(BUILD) && $(CTEST) -L guarantees --repeat until-fail:$(or $(REPEAT),1)

check-long:
	tools/install-deps build check manycore apps
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	cd $(BUILD) && $(CTEST) -L '^(long|apps|bench|manycore)$$' -LE '^(libgomp|libomp|models|by_hand|mpi)$$'

check-peers: all
	cd $(BUILD) && $(CTEST) -L '^(libgomp|libomp)$$'

check-by-hand: all
	cd $(BUILD) && $(CTEST) -L '^by_hand$$'

fuzz: all
	CASES=$(or $(CASES),5000) $(CMAKE) --build $(BUILD) --target fuzz

.PHONY: random
random: all
	SEEDS=$(or $(SEEDS),1-1000) $(CMAKE) --build $(BUILD) --target random_programs

refuse: all
	$(CMAKE) --build $(BUILD) --target refuse

soak: all
	SOAK=$(SOAK) $(CMAKE) --build $(BUILD) --target soak

check-ports:
	tools/install-deps build ports
	tools/check-ports $(if $(ALL),--all)

check-kernel:
	tools/install-deps build kernel
	tools/check-kernel

conformance: conformance-gnu conformance-llvm

conformance-gnu:
	tools/install-deps build conformance
	$(MAKE) all
	tests/conformance/run --build $(BUILD)

conformance-newer:
	tools/install-deps build newer
	$(MAKE) all
	tests/conformance/newer --build $(BUILD) --gcc $(or $(GCC),16)

conformance-repeat:
	tools/install-deps build conformance
	$(MAKE) all
	tests/conformance/repeat --build $(BUILD) --runs $(or $(RUNS),20) $(addprefix --setting ,$(SETTINGS))

conformance-speed: conformance-gnu
	tests/conformance/task-speed --build $(BUILD)

conformance-llvm:
	tools/install-deps build conformance
	$(MAKE) all
	tests/conformance/run-llvm --build $(BUILD)

conformance-flang:
	tools/install-deps build conformance
	$(MAKE) all
	tests/conformance/run-flang --build $(BUILD)

programs:
	tools/install-deps build programs
	$(MAKE) all
	tools/programs/run --build $(BUILD) $(if $(KEEP),--keep-table docs/programs.md)

manycore:
	tools/install-deps build manycore
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	cd $(BUILD) && ctest -R '^manycore\.programs$$' --no-tests=error
	bench/manycore/speed.py --build $(BUILD) --quick

manycore-apps:
	tools/install-deps build manycore apps
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/manycore/apps.py --build $(BUILD) $(if $(FULL),,--quick) $(if $(KEEP),--keep) $(addprefix --peer ,$(PEERS))

.PHONY: python
python:
	tools/install-deps build python
	$(MAKE) product
	python3 tests/python/wheels.py . $(BUILD) $(WHEELS)
	if [ -x $(BUILD)/lib/trace/psthreads-report ]; then $(CMAKE) --build $(BUILD) --target make_recording && \
	ctest --test-dir $(BUILD) -R '^report\.' --output-on-failure; fi

.PHONY: packages packages-check
.PHONY: release wheel wheel-check
release: product
	$(if $(PREVIOUS),tools/install-deps release)
	packaging/release $(BUILD) $(BUILD)/release $(PREVIOUS)

wheel: product
	packaging/wheel/build $(BUILD) $(BUILD)/wheel

wheel-check: wheel
	@$(CONFIGURE_ANEW)
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target python_computes fake_scipy
	packaging/wheel/test $(BUILD)/wheel/psthreads-*.whl $(BUILD)

.PHONY: old-systems
old-systems: wheel
	tools/install-deps build packages
	tests/systems/run $(BUILD) $(SYSTEMS)

packages:
	tools/install-deps build packages
	packaging/deb/build $(BUILD)/packages

packages-check: packages
	for suite in $(or $(SUITE),bookworm trixie); do packaging/deb/test --suite $$suite $(BUILD)/packages || exit 1; done

mpi:
	tools/install-deps build mpi
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	cd $(BUILD) && $(CTEST) -L '^mpi$$'

.PHONY: manycore-study
STUDY_PARTS = table1 fig17 nesting fig18 fig19 fig20 scaling sweep best remote short
manycore-study:
	tools/install-deps build manycore
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/manycore/forkjoin.py --build $(BUILD) $(if $(QUICK),--quick) $(if $(KEEP),--keep)
	bench/manycore/sweep.py --build $(BUILD) $(if $(KEEP),--keep)
	bench/manycore/apps.py --build $(BUILD) --again $(if $(QUICK),--quick) $(if $(KEEP),--keep) \
	    $(addprefix --part ,$(STUDY_PARTS))
	bench/manycore/documents.py $(if $(KEEP),--write)

manycore-long: TIMES ?= 1000
manycore-long:
	tools/install-deps build manycore
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	platform/tests/isa.py --programs $$((2 * $(TIMES))) --seed 10000 $(BUILD)/bin/manycore \
	    $(BUILD)/tests/manycore/isa_fuzz
	platform/tests/kernels.py --cases $$(($(TIMES) / 2)) --seed 1000 --fuzz $(BUILD)/tests/manycore/isa_fuzz \
	    $(BUILD)/bin/manycore platform/mcc platform/examples/*.c

asan tsan ubsan shake release-roots:
	tools/install-deps build check
	tools/get-libomp
	$(CMAKE) --preset $@ $(STRICT)
	$(CMAKE) --build build-$@ -j $(JOBS)
	cd build-$@ && $(CTEST) -j $(shell expr $(JOBS) + 1) -LE '^(long|by_hand|structure)$$' # they compute

debug-links:
	tools/install-deps build
	$(CMAKE) --preset debug -B $(BUILD)/debug -DPS_TESTS=OFF -DPS_BENCH=OFF $(STRICT)
	$(CMAKE) --build $(BUILD)/debug -j $(JOBS) --target dropin dropin_pthreads psthreads_shared psrun

# The programs and the peers' results are those of make's build; the drop-in alone is another one.
release-programs release-suites: DROPIN = $(abspath build-release-roots)/lib/dropin
release-programs: release-dropin all
	cd $(BUILD) && ROOTS_LEAVE=1 TEST_DROPIN=$(DROPIN) $(CTEST) -L '^psthreads$$' -R '^(guarantees|omp|kmpc)[.]' \
	    $(if $(PART),-I $(shell echo $(PART) | awk -F/ '{ print $$1 % $$2 + 1 ",," $$2 }')) \
	    --repeat until-fail:$(or $(RUNS),1)

release-suites: SUITE = --build $(BUILD) --runtime $(DROPIN) --name release --repeat $(or $(RUNS),1) \
    $(if $(PART),--part $(PART))
release-suites: release-dropin
	status=0; \
	tests/conformance/run $(SUITE) --limit 90 || status=1; \
	tests/conformance/run-llvm $(SUITE) --limit 180 || status=1; \
	exit $$status

.PHONY: release-dropin
release-dropin:
	tools/install-deps build check conformance
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(CMAKE) --preset release-roots $(STRICT)
	$(CMAKE) --build build-release-roots -j $(JOBS) --target dropin

bench:
	tools/install-deps build bench
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/goals.py --build $(BUILD) $(if $(QUICK),--quick) $(addprefix --peer ,$(PEERS))
	$(if $(KEEP),cp $(BUILD)/bench/results/goals.* bench/results/)

bench-grains:
	tools/install-deps build bench apps
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/grains.py --build $(BUILD) $(addprefix --peer ,$(PEERS))
	$(if $(KEEP),cp $(BUILD)/bench/results/grains.* bench/results/)

bench-traces:
	tools/install-deps build bench apps
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/traces.py --build $(BUILD)
	$(if $(KEEP),cp $(BUILD)/bench/results/traces.* bench/results/)

bench-waiting:
	tools/install-deps build bench
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	bench/waiting.py --build $(BUILD) $(if $(QUICK),--quick) $(addprefix --peer ,$(PEERS))
	$(if $(KEEP),cp $(BUILD)/bench/results/waiting.* bench/results/)

bench-plots:
	tools/install-deps build bench apps
	tools/get-libomp
	@$(CONFIGURE_ANEW)
	$(MAKE) all
	$(CMAKE) -S . -B build-portable -G Ninja -DCMAKE_BUILD_TYPE=Release -DPS_PORTABLE=ON -DPS_TESTS=OFF -DPS_BENCH=OFF \
	    $(STRICT)
	$(CMAKE) --build build-portable -j $(JOBS)
	bench/papers.py --build $(BUILD) --portable build-portable $(addprefix --peer ,$(PEERS))
	$(if $(KEEP),cp $(BUILD)/bench/papers/*.png docs/ && cp $(BUILD)/bench/papers/papers.* bench/results/)

install: product
	$(CMAKE) --install $(BUILD) --prefix "$(PREFIX)"

install-manycore install-apps: PART = $(@:install-%=%)
install-manycore install-apps:
	tools/install-deps build $(PART)
	@$(CONFIGURE_ANEW)
	$(MAKE) $(BUILD)/build.ninja
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target product_$(PART)
	$(CMAKE) --install $(BUILD) --prefix "$(PREFIX)" --component $(PART)

library:
	$(CMAKE) -S . -B build-library -G Ninja -DCMAKE_BUILD_TYPE=Release -DPS_OPENMP=OFF -DPS_TESTS=OFF -DPS_BENCH=OFF
	$(CMAKE) --build build-library -j $(JOBS)

uninstall:
	$(CMAKE) -DPREFIX="$(PREFIX)" -P $(BUILD)/uninstall.cmake

format:
	clang-format -i $(SOURCES)

format-check:
	tools/install-deps lint
	clang-format --dry-run --Werror $(SOURCES)

lint:
	tools/install-deps build lint
	$(MAKE) all
	tools/lint $(BUILD)

clean:
	test ! -d $(BUILD) || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name demo -exec rm -rf {} +
	rm -rf build-asan build-tsan build-ubsan build-shake build-release-roots build-debug build-portable
