"""Programs that Debian packages, and small ones that are built here on libraries that it packages."""

import random
import re
import shutil

from entry import SYSTEM_PYTHON, WORK, Program, built, file_bytes, system


def prepare_image(place):
    place.make(system("convert-im6.q16"), "-seed", "7", "-size", "1000x800", "plasma:tomato-steelblue", "-depth", "8",
               "image.ppm")


def image_command(place):
    return [system("convert-im6.q16"), place.inputs / "image.ppm", "-resize", "140%", "-gaussian-blur", "0x2",
            "-rotate", "7", "-unsharp",
            "0x1.5", "-modulate", "105,120", "out.ppm"]


def prepare_fftw_loop(place):
    place.compile(["gcc"], "fftw_loop.c", "-lfftw3_omp", "-lfftw3", "-lm")


def prepare_water(place):
    gmx = [system("gmx"), "-quiet"]
    shutil.copy(WORK / "water.top", place.inputs / "topol.top")
    place.make(*gmx, "solvate", "-cs", "spc216", "-box", "2.8", "2.8", "2.8", "-o", "box.gro", "-p", "topol.top")
    place.make(*gmx, "grompp", "-f", WORK / "water.mdp", "-c", "box.gro", "-p", "topol.top", "-o", "water.tpr",
               "-maxwarn", "2")


def water_command(ranks, threads):
    return lambda place: [system("gmx"), "-quiet", "mdrun", "-s", place.inputs / "water.tpr", "-ntmpi", ranks, "-ntomp",
                          threads, "-reprod",
                          "-nb", "cpu", "-pin", "off", "-deffnm", "run"]


def water_energies(_, folder):
    text = (folder / "run.log").read_text(errors="replace")
    blocks = re.findall(r"Energies \(kJ/mol\)\n(.*?)\n\n", text, re.S)
    return [f"energies {n} " + " ".join(re.findall(r"-?\d\.\d+e[+-]\d+", block)) for n, block in enumerate(blocks)]


MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def prepare_silicon(place):
    with open(WORK / "si_pseudo.ld1") as text:
        place.make(system("ld1.x"), stdin=text, environment=MPI_AS_ROOT)


def silicon_command(place):
    return ["/bin/sh", "-c", f"cp '{place.inputs}/Si.UPF' . && exec {system('pw.x')} -in '{WORK}/si.scf'"]


def prepare_page(place):
    """A page of text as a picture: 25 lines of words, the same each time."""
    words = ("the quick brown fox jumps over lazy dogs while parallel programs share their processors with nested "
             "regions").split()
    lines = [" ".join(words[(i * i + 3 * k * (i + 1)) % len(words)] for k in range(9)) for i in range(25)]
    place.make(system("convert-im6.q16"), "-size", "1300x950", "xc:white", "-font", "DejaVu-Sans", "-pointsize", "28",
               "-annotate", "+30+50",
               "\n".join(lines), "page.png")


def read_page(times):
    return lambda place: ["/bin/sh", "-c", "for i in $(seq " + str(times) + "); do " + system("tesseract")
                          + f" '{place.inputs}/page.png' text$i"
                          " 2>&1 & done; wait; cat text*.txt | sed 's/^/result /'"]


def prepare_proteins(place):
    """Six families of sequences with changes in them."""
    source = random.Random(1)
    acids = "ACDEFGHIKLMNPQRSTVWY"
    families = ["".join(source.choice(acids) for _ in range(150)) for _ in range(6)]
    with open(place.inputs / "proteins.fa", "w", encoding="ascii") as file:
        for i in range(120):
            file.write(f">p{i}\n" + "".join(source.choice(acids) if source.random() < 0.15 else c
                                            for c in families[i % 6]) + "\n")


def prepare_reads(place):
    """Short reads of both strands of one random genome, with errors: pairs as a sequencer gives them."""
    source = random.Random(7)
    genome = "".join(source.choice("ACGT") for _ in range(120000))
    other = str.maketrans("ACGT", "TGCA")
    with open(place.inputs / "left.fq", "w", encoding="ascii") as left, open(place.inputs / "right.fq", "w",
                                                                             encoding="ascii") as right:
        for i in range(24000):
            at = source.randrange(len(genome) - 300)
            first = "".join(c if source.random() > 0.003 else source.choice("ACGT") for c in genome[at:at + 100])
            second = genome[at + 200:at + 300][::-1].translate(other)
            left.write(f"@r{i}/1\n{first}\n+\n{'I' * 100}\n")
            right.write(f"@r{i}/2\n{second}\n+\n{'I' * 100}\n")


def prepare_molecules(place):
    """Molecules of water, not quite in a lattice."""
    source = random.Random(7)
    lines = []
    for x, y, z in ((x, y, z) for x in range(4) for y in range(3) for z in range(3)):
        x, y, z = (3 * v + source.random() * 0.3 for v in (x, y, z))
        lines += [f"O {x} {y} {z}", f"H {x + 0.96} {y} {z}", f"H {x - 0.24} {y + 0.93} {z}"]
    (place.inputs / "water.xyz").write_text(f"{len(lines)}\n\n" + "\n".join(lines) + "\n")


def prepare_stars(place):
    """Where Siril has no settings it writes another picture: each run gets a home of its own."""
    prepare_image(place)
    place.make(system("convert-im6.q16"), "image.ppm", "+noise", "Random", "-depth", "16", "stars.tif")
    (place.inputs / "filter.ssf").write_text("requires 1.0.0\nsetcpu 2\nload stars\nfmedian 5 1\nunsharp 2 "
                                             "0.7\nsavetif out\nclose\n")


def prepare_family(place, members=120):
    """Genes of one family, as long as one another, so that they are aligned as they stand."""
    rng = random.Random(7)
    genes = ["".join(rng.choice("ACGT") for _ in range(600))]
    while len(genes) < members:
        parent = rng.choice(genes)
        genes.append("".join(rng.choice("ACGT") if rng.random() < 0.04 else base for base in parent))
    (place.inputs / f"family{members}.fa").write_text("".join(f">gene{i}\n{gene}\n" for i, gene in enumerate(genes)))


EIGEN_FLAGS = ("-O2", "-fopenmp", "-isystem", "/usr/include/eigen3")
OCTAVE = ('rand("seed", 1); a = rand(600); tic; for i = 1:20, b = a * a; c = a \\ b; end; '
          'printf("time %f\\nresult product %.8g\\nresult solved %.6g\\n", toc, sum(b(:)), sum(c(:)))')

DEBIAN = [
    Program("ImageMagick", "Debian", image_command, apt=["imagemagick"], prepare=prepare_image,
            results=file_bytes("out.ppm"), tolerance=0,
            doctor=lambda place: [(system("convert-im6.q16"), "libgomp.so.1", "by name")], quick=True),
    Program("FFTW", "Debian", lambda place: [place.inputs / "fftw"], apt=["libfftw3-dev", "gcc"], doctor=built("fftw"),
            quick=True,
            prepare=lambda place: place.compile(["gcc"], "fftw.c", "-lfftw3_omp", "-lfftw3", "-lm")),
    Program("FFTW inside a loop", "Debian", lambda place: [place.inputs / "fftw_loop", "8", "128", "200"],
            apt=["libfftw3-dev", "gcc"], environment={"OMP_MAX_ACTIVE_LEVELS": "2"}, doctor=built("fftw_loop"),
            prepare=prepare_fftw_loop),
    Program("FFTW inside a loop of three", "Debian", lambda place: [place.inputs / "fftw_loop", "3", "512", "20"],
            apt=["libfftw3-dev", "gcc"], environment={"OMP_MAX_ACTIVE_LEVELS": "2"}, quick=True,
            prepare=prepare_fftw_loop),
    Program("OpenBLAS", "Debian", lambda place: [place.inputs / "openblas"], apt=["libopenblas-openmp-dev", "gcc"],
            doctor=built("openblas"),
            quick=True, prepare=lambda place: place.compile(["gcc"], "openblas.c", "-lopenblas", "-lpthread")),
    Program("OpenBLAS, nested", "Debian", lambda place: [place.inputs / "openblas"],
            apt=["libopenblas-openmp-dev", "gcc"], quick=True,
            environment={"OMP_MAX_ACTIVE_LEVELS": "2"}, doctor=built("openblas"),
            prepare=lambda place: place.compile(["gcc"], "openblas.c", "-lopenblas", "-lpthread")),
    Program("NumPy on OpenBLAS, thread pool", "Debian", lambda place: [SYSTEM_PYTHON, WORK / "threadpool_blas.py"],
            quick=True,
            apt=["python3-numpy", "libopenblas0-openmp"]),
    Program("  ... and forked afterwards", "Debian",
            lambda place: [SYSTEM_PYTHON, WORK / "threadpool_blas.py", "--fork"], quick=True,
            apt=["python3-numpy", "libopenblas0-openmp"], not_own="libgomp hangs in a forked child"),
    Program("a gfortran program", "built here", lambda place: [place.inputs / "heat"], apt=["gfortran"],
            doctor=built("heat"), quick=True,
            prepare=lambda place: place.compile(["gfortran"], "heat.f90")),
    Program("a Clang program", "built here", lambda place: [place.inputs / "mixed"],
            apt=["clang|clang-*", "libomp-dev|libomp-*-dev"], quick=True,
            doctor=lambda place: [(place.inputs / "mixed", "libomp.so.5", "by name")],
            prepare=lambda place: place.compile([*(f"clang-{n}" for n in range(25, 13, -1)), "clang"], "mixed.c")),
    Program("Eigen's product", "built here", lambda place: [place.inputs / "eigen_product"], quick=True, tolerance=0,
            apt=["libeigen3-dev", "g++"], doctor=built("eigen_product"),
            prepare=lambda place: place.compile(["g++"], "eigen_product.cc", flags=EIGEN_FLAGS)),
    Program("Eigen's product, built by Clang", "built here", lambda place: [place.inputs / "eigen_product"],
            tolerance=0, apt=["libeigen3-dev", "clang|clang-*", "libomp-dev|libomp-*-dev"],
            doctor=lambda place: [(place.inputs / "eigen_product", "libomp.so.5", "by name")],
            prepare=lambda place: place.compile([*(f"clang++-{n}" for n in range(25, 13, -1)), "clang++"],
                                                "eigen_product.cc", flags=EIGEN_FLAGS)),
    Program("R data.table", "Debian", lambda place: [system("Rscript"), WORK / "datatable.R"],
            apt=["r-cran-data.table"], quick=True,
            doctor=lambda place: [("/usr/lib/R/site-library/data.table/libs/data_table.so", "libgomp.so.1",
                                   "by name")]),
    Program("GROMACS, 1 rank of 2", "Debian", water_command(1, 2), apt=["gromacs"], prepare=prepare_water,
            results=water_energies,
            tolerance=1e-4, doctor=lambda place: [(system("gmx"), "libgomp.so.1", "by name")]),
    Program("GROMACS, 2 ranks of 2", "Debian", water_command(2, 2), apt=["gromacs"], prepare=prepare_water,
            results=water_energies, tolerance=1e-4),
    Program("Quantum ESPRESSO", "Debian", silicon_command, apt=["quantum-espresso"], environment=MPI_AS_ROOT,
            prepare=prepare_silicon,
            results=lambda out,
            _: re.findall(r"^!?\s+(?:total energy|estimated scf accuracy|highest occupied.*)\s+[=:<].*", out, re.M),
            tolerance=1e-5, doctor=lambda place: [(system("pw.x"), "libgomp.so.1", "by name")]),
    Program("Tesseract", "Debian", read_page(1), apt=["tesseract-ocr", "imagemagick", "fonts-dejavu-core"],
            prepare=prepare_page, quick=True,
            doctor=lambda place: [(system("tesseract"), "libgomp.so.1", "by name")]),
    Program("Tesseract, four at once", "Debian", read_page(4),
            apt=["tesseract-ocr", "imagemagick", "fonts-dejavu-core"], prepare=prepare_page),
    Program("Clustal Omega", "Debian", lambda place: [system("clustalo"), "-i", place.inputs / "proteins.fa", "-o",
                                                      "aligned.fa", "--threads=2"],
            apt=["clustalo"], prepare=prepare_proteins, results=file_bytes("aligned.fa"), tolerance=0),
    Program("Octave on OpenBLAS", "Debian", lambda place: [system("octave-cli"), "--quiet", "--no-init-file", "--eval",
                                                           OCTAVE],
            apt=["octave", "libopenblas0-openmp"],
            doctor=lambda place: [(system("octave-cli"), "libgomp.so.1", "by name")]),
    Program("SoX, eight channels", "Debian", lambda place: [system("sox"), "--multi-threaded", "-R", "-n", "-r",
                                                            "44100", "-c", "8", "out.wav", "synth",
            "60", "sine", "300:3000", "reverb", "flanger", "chorus", "0.5", "0.9", "50", "0.4", "0.25", "2", "-t"],
            apt=["sox"],
            results=file_bytes("out.wav"), tolerance=0),
    Program("MEGAHIT", "Debian", lambda place: [system("megahit"), "-t", "2", "-1", place.inputs / "left.fq", "-2",
                                                place.inputs / "right.fq", "-o",
            "assembled", "--k-list", "21,41,61"], apt=["megahit"], prepare=prepare_reads,
            results=file_bytes("assembled/final.contigs.fa"), tolerance=0),
    Program("xtb on OpenBLAS", "Debian", lambda place: [system("xtb"), place.inputs / "water.xyz", "--gfn", "2", "--sp",
                                                        "-P", "2"],
            apt=["xtb", "libopenblas0-openmp"], prepare=prepare_molecules, results=lambda out,
            _: re.findall(r"TOTAL ENERGY +\S+", out),
            doctor=lambda place: [(system("xtb"), "libgomp.so.1", "by name")]),
    Program("Siril", "Debian", lambda place: ["/bin/sh", "-c", f"cp '{place.inputs}/stars.tif' . && HOME=$PWD exec "
            f"{system('siril-cli')} -s '{place.inputs}/filter.ssf'"], apt=["siril", "imagemagick"],
            prepare=prepare_stars, results=file_bytes("out.tif"), tolerance=0,
            doctor=lambda place: [(system("siril-cli"), "libgomp.so.1", "by name")]),
    Program("FastTree", "Debian", lambda place: [system("fasttreeMP"), "-nt", "-seed", "1", "-quiet", "-nopr",
                                                 place.inputs / "family120.fa"], apt=["fasttree"],
            prepare=prepare_family, results=lambda out, _: out.split(), environment={"OMP_NUM_THREADS": "2"},
            tolerance=0,
            doctor=lambda place: [(system("fasttreeMP"), "libgomp.so.1", "by name")]),
    Program("CD-HIT", "Debian", lambda place: [system("cd-hit-est"), "-i", place.inputs / "family120.fa", "-o",
                                               "clusters", "-c", "0.92", "-n", "8", "-T", "2"],
            apt=["cd-hit"], prepare=prepare_family, results=file_bytes("clusters"), tolerance=0,
            doctor=lambda place: [(system("cd-hit-est"), "libgomp.so.1", "by name")]),
    Program("MUSCLE", "Debian", lambda place: [system("muscle"), "-align", place.inputs / "family16.fa", "-output",
                                               "aligned.fa", "-threads", "2"],
            apt=["muscle"], prepare=lambda place: prepare_family(place, 16), results=file_bytes("aligned.fa"),
            tolerance=0,
            doctor=lambda place: [(system("muscle"), "libgomp.so.1", "by name")]),
    Program("GraphicsMagick", "Debian", lambda place: [system("gm"), "convert", place.inputs / "image.ppm", "-resize",
                                                       "140%", "-blur", "0x3", "-rotate", "7",
            "-median", "3", "out.ppm"], apt=["graphicsmagick", "imagemagick"], prepare=prepare_image,
            results=file_bytes("out.ppm"), tolerance=0, quick=True,
            doctor=lambda place: [(system("gm"), "libgomp.so.1", "by name")]),
    Program("PyTorch, with a forked DataLoader", "Debian", lambda place: [SYSTEM_PYTHON, WORK / "torch_work.py"],
            apt=["python3-torch"],
            tolerance=1e-3),
]
