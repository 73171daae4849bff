#!/usr/bin/python3
"""interposed.py LAYER MPI - whether every call of MPI that may wait is interposed by the layer, in C and in Fortran.

LAYER: libpsthreads-mpi-MPI.so; MPI: openmpi or mpich. The calls are those that this MPI's libraries have, also those
with large counts (MPI_Recv_c). Those that wait for no process are named below, without that ending. A new one that is
in neither list is an offence."""

import re
import subprocess
import sys

LIBRARIES = {"openmpi": ["libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"],
             "mpich": ["libmpich.so.12", "libmpichfort.so.12"]}

# Calls that wait for no process: local ones, those that only start something, and MPI 4's sessions.
LOCAL = [
    "I(?!nit|ntercomm)[a-z]+(_.*)?", "R(get|put|accumulate|get_accumulate)", ".*_init", "Start(all)?",
    "(T|Session|Info|Group|Type)_.*", ".*_(c2f|f2c|f082f|f2f08|c2f08|f082c)", "F(_|08_)?STATUS.*",
    "P(ready|control|send|recv).*", ".*_get(_.*)?", ".*_(keyval|attr|errhandler|name|port|rank|fn|FN)",
    "(Keyval|Attr|Errhandler|Op)_.*", "Get(_.*)?", "Put", "Accumulate", "Fetch_and_op", "Compare_and_swap", "Bsend",
    "Buffer_attach", "Cancel", "Request_free", "Grequest_.*", "Status_.*", "Test_cancelled", "Unpack.*", "Pack.*",
    "Reduce_local", "Error_.*", "Add_error_.*",
    "Comm_(compare|size|group|remote_size|remote_group|test_inter|call_errhandler|idup.*|create_from_group)",
    "Topo_test", "(Cart|Graph)_(coords|shift|map|neighbors.*|rank)", "(Cart|Graph)dim.*_get", "Dims_create",
    "Dist_graph_neighbors.*", "Intercomm_create_from_groups",
    "Win_(attach|detach|post|sync|shared_query|call_errhandler)", "Aint_.*", "Address",
    "File_(delete|seek|i(read|write).*|call_errhandler)", "(Alloc|Free)_mem", "Initialized", "Finalized", "Init",
    "Is_thread_main", "Query_thread", "Abort", "Wtime", "Wtick", "Register_datarep", "(DUP|NULL)_.*", "COMM_.*",
    "CONVERSION_.*", "(TYPE|WIN|AINT|WTIME|WTICK)_.*", "UNWEIGHTED|WEIGHTS_EMPTY",
    ".*_(struct|hindexed|hvector|extent|lb|ub)"]

# As they are with MPICH: see docs/clusters.md.
AS_THEY_ARE = {"openmpi": [], "mpich": ["File_(read|write)(_at|_shared)?"]}


def symbols(library, *options):
    """{symbol} of a library's dynamic table."""
    if "/" not in library:
        cached = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        match = re.search(rf"^\s*{re.escape(library)} .*=> (\S+)$", cached, re.M)
        if not match:
            return set()
        library = match.group(1)
    listed = subprocess.run(["nm", "-D", *options, library], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}


def matches(name, patterns):
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def main():
    layer, mpi = sys.argv[1:3]
    ours = symbols(layer, "--defined-only")
    main_library, *fortran = LIBRARIES[mpi]
    wanted, wrong = [], []
    for symbol in sorted(symbols(main_library, "--defined-only")):
        name = symbol[4:]
        kind = name.removesuffix("_c")
        if symbol.startswith("MPI_") and not matches(kind, LOCAL) and not matches(kind, AS_THEY_ARE[mpi]):
            wanted.append(name)
            if symbol not in ours:
                wrong.append(f"{symbol} may wait, and goes to {mpi} as it is")
    for library in fortran:
        if not symbols(library, "--undefined-only"):
            print(f"{library} is not here: Fortran is not looked at")
            fortran = []
    defined = {symbol for library in fortran for symbol in symbols(library, "--defined-only")}
    called = {symbol for library in fortran for symbol in symbols(library, "--undefined-only")}
    for name in wanted if fortran else []:
        lower = name.lower()
        # mpif.h and the module mpi: MPICH's call C's
        if f"mpi_{lower}_" in defined and f"mpi_{lower}_" not in ours and not (mpi == "mpich" and
                                                                               f"MPI_{name}" in called):
            wrong.append(f"mpi_{lower}_ may wait, and goes to {mpi} as it is")
        # the module mpi_f08: it goes to PMPI, or calls what is interposed
        past = f"PMPI_{name}" in called if mpi == "mpich" else f"pmpi_{lower}_" in called
        if f"mpi_{lower}_f08_" in defined and past and f"mpi_{lower}_f08_" not in ours:
            wrong.append(f"mpi_{lower}_f08_ may wait, and goes to {mpi} as it is")
    print(f"{len(wanted)} calls may wait")
    print("\n".join(wrong))
    return 1 if wrong or len(wanted) < 100 else 0


sys.exit(main())
