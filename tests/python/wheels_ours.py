#!/usr/bin/env python3
"""wheels_ours.py JOB - the Python package over PyPI's wheels, started by wheels.py in a process without psrun. Prints
what was looked at as JSON: names, and whether it is right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psthreads

JOBS = {}


def job(function):
    JOBS[function.__name__] = function
    return function


def python(*args):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True).stdout


def openblas(entries):
    return [entry for entry in entries if entry["internal_api"] == "openblas"]


def taken():
    """What NumPy, SciPy and scikit-learn have brought into this process runs on the runtime."""
    import numpy as np
    import scipy.linalg
    from sklearn.cluster import KMeans
    a = np.random.default_rng(1).standard_normal((400, 400))
    KMeans(4, n_init=1, random_state=1).fit(a)
    entries = psthreads.info()
    copies = [entry for entry in entries if "scikit_learn.libs" in str(entry["filepath"])]
    return {"openblas": [entry["ours"] for entry in openblas(entries)] == ["yes", "yes"],
            "openmp": [entry["ours"] for entry in copies] == ["yes"],
            "solves": bool(np.allclose(a @ scipy.linalg.solve(a, a[0]), a[0]))}


@job
def enable_before_the_imports():
    return {"enabled": psthreads.enable(), **taken()}


@job
def enable_behind_numpy():
    """NumPy's OpenBLAS is taken while it is there already."""
    import numpy as np
    np.ones((600, 600)) @ np.ones((600, 600))
    return {"enabled": psthreads.enable(), **taken()}


@job
def enable_behind_scikit_learn():
    import sklearn.cluster
    assert sklearn.cluster
    try:
        psthreads.enable()
    except RuntimeError as error:
        return {"names_it": "scikit_learn.libs/libgomp" in str(error)}
    return {"too_late": False}


@job
def run_under_psrun():
    text = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import json, wheels_ours; " \
        "print(json.dumps({'enabled': not wheels_ours.psthreads.enable(), **wheels_ours.taken()}))"
    return json.loads(python("-m", "psthreads", "-c", text))


@job
def info_of_modules():
    entries = json.loads(python("-m", "psthreads", "info", "numpy", "scipy.linalg"))
    return {"both": [entry["ours"] for entry in openblas(entries)] == ["yes", "yes"]}


@job
def doctor_of_a_script():
    return {"names_it": "openblas" in python("-m", "psthreads", "doctor", "-c", "import numpy")}


@job
def limits_of_both():
    from threadpoolctl import threadpool_info, threadpool_limits
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    psthreads.enable()
    import numpy as np
    import sklearn.cluster
    assert sklearn.cluster
    runtime = str(Path(os.environ["PSTHREADS_HOME"]).resolve() / "lib")

    def numbers():
        """By threadpoolctl: of OpenBLAS, and of our runtime."""
        np.ones((300, 300)) @ np.ones((300, 300))
        return [entry["num_threads"] for entry in threadpool_info() if entry["internal_api"] == "openblas"
                or os.path.realpath(entry["filepath"]).startswith(runtime)]
    before = numbers()
    with psthreads.limit(1):
        ours = numbers()
        with threadpool_limits(2, user_api="blas"):
            raised = [entry["num_threads"] for entry in threadpool_info() if entry["internal_api"] == "openblas"]
        back = numbers()
    with threadpool_limits(1):
        theirs = numbers()
        with psthreads.limit(4):
            inner = numbers()
    one = [1] * len(before)
    return {"pools": len(before) == 3, "ours": ours == one, "raised": raised == [2, 2], "back": back == one,
            "theirs": theirs == one, "not_raised": inner == one, "after": numbers() == before}


@job
def jupyter_kernel():
    """A kernel that `python -m psthreads jupyter install` has added runs on the runtime."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import start_new_kernel
    prefix = Path.cwd() / "jupyter"
    said = python("-m", "psthreads", "-n", "2", "jupyter", "install", "--prefix", str(prefix), "--name", "ps-test")
    os.environ["JUPYTER_PATH"] = str(prefix / "share/jupyter")
    manager, client = start_new_kernel(kernel_name="ps-test")
    found = []
    try:
        reply = client.execute_interactive(
            "import psthreads, numpy, os; numpy.ones((600, 600)) @ numpy.ones((600, 600))\n"
            "print(psthreads.is_enabled(), os.environ['OMP_NUM_THREADS'], "
            "[p['ours'] for p in psthreads.info() if p['internal_api'] == 'openblas'])",
            output_hook=lambda message: found.append(message["content"].get("text", "")))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    specs = KernelSpecManager()
    specs.remove_kernel_spec("ps-test")
    return {"says_where": str(prefix) in said, "status": reply["content"]["status"] == "ok",
            "on_the_runtime": "".join(found).strip() == "True 2 ['yes']"}


if __name__ == "__main__":
    print(json.dumps(dict.fromkeys(JOBS, True) if sys.argv[1] == "--list" else JOBS[sys.argv[1]]()))
