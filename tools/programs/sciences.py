"""Debian's programs for biology, chemistry, mathematics and pictures: the table's second part."""

import hashlib
import re
import subprocess

from debian import MPI_AS_ROOT, prepare_family, prepare_image, prepare_molecules, prepare_proteins, \
    prepare_reads
from entry import SYSTEM_PYTHON, WORK, Program, built, file_bytes, system

TWO = {"OMP_NUM_THREADS": "2"}


def at_home(*words):
    """A command whose settings are this run's own: its home is the run's folder."""
    return ["/bin/sh", "-c", 'export HOME="$PWD"; exec "$@"', "sh", *words]


def by_name(program):
    return lambda place: [(system(program), "libgomp.so.1", "by name")]


def of_file(file):
    return lambda place: [(file, "libgomp.so.1", "by name")]


def file_lines(name):
    """Results: all of a file's lines, in an order of their own."""
    return lambda _, folder: sorted((folder / name).read_text(errors="replace").splitlines())


def file_pixels(name):
    """Results: a picture's pixels, without the dates that are written beside them."""
    def digest(_, folder):
        raw = subprocess.run([system("convert-im6.q16"), folder / name, "-depth", "16", "rgb:-"], capture_output=True,
                             check=False, stdin=subprocess.DEVNULL)
        if raw.returncode:
            raise OSError(f"{name}: no picture")
        return [f"{name} {len(raw.stdout)} {hashlib.sha256(raw.stdout).hexdigest()}"]
    return digest


def picture_means(name):
    """Results: a picture's mean and deviation; RawTherapee's pixels are one unit more or less from run to run."""
    def means(_, folder):
        said = subprocess.run([system("identify-im6.q16"), "-format", "%[mean] %[standard-deviation]", folder / name],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if said.returncode:
            raise OSError(f"{name}: no picture")
        return [said.stdout]
    return means


def printed(pattern, name=None):
    """Results: what matches in the output, or in a file."""
    return lambda out, folder: re.findall(pattern, (folder / name).read_text(errors="replace") if name else out, re.M)


def contigs(name):
    """Results: sequences, whichever strand and order they come in."""
    other = str.maketrans("ACGT", "TGCA")

    def sequences(_, folder):
        parts = (folder / name).read_text().split(">")[1:]
        whole = ["".join(part.splitlines()[1:]) for part in parts]
        return sorted(min(one, one[::-1].translate(other)) for one in whole)
    return sequences


def prepare_reads_together(place):
    """Both reads of each pair, one after the other, without qualities."""
    prepare_reads(place)
    left, right = ((place.inputs / f"{side}.fq").read_text().splitlines() for side in ("left", "right"))
    (place.inputs / "reads.fa").write_text("".join(
        f">{left[i][1:]}\n{left[i + 1]}\n>{right[i][1:]}\n{right[i + 1]}\n" for i in range(0, len(left), 4)))


def prepare_two_pictures(place):
    """Two halves that overlap, as a panorama has them."""
    prepare_image(place)
    convert = system("convert-im6.q16")
    place.make(convert, "image.ppm", "-crop", "600x800+0+0", "-alpha", "set", "left.tif")
    place.make(convert, "image.ppm", "-crop", "600x800+400+0", "-alpha", "set", "right.tif")


def prepare_raw(place):
    prepare_image(place)
    place.make(system("convert-im6.q16"), "image.ppm", "-resize", "50%", "image.png")
    place.make(system("convert-im6.q16"), "image.ppm", "-resize", "50%", "-depth", "16", "image.tif")
    (place.inputs / "all.pp3").write_text(
        "[Version]\nAppVersion=5.9\nVersion=349\n[Sharpening]\nEnabled=true\n[Exposure]\nCompensation=0.4\n"
        "[Directional Pyramid Denoising]\nEnabled=true\nLuma=40\n[Luminance Curve]\nEnabled=true\nContrast=20\n"
        "[Local Contrast]\nEnabled=true\nRadius=40\n")


def prepare_grid(place):
    """Hills, as ESRI's text of a grid."""
    rows = [" ".join(str((x * x + 3 * y * y + x * y) % 199) for x in range(100)) for y in range(100)]
    (place.inputs / "hills.asc").write_text("ncols 100\nnrows 100\nxllcorner 0\nyllcorner 0\ncellsize 10\n"
                                            "NODATA_value -9999\n" + "\n".join(rows) + "\n")


def prepare_words(place):
    """Words and md5crypt's sums of some of them."""
    words = [f"word{i * 7919 % 100003}" for i in range(3000)]
    (place.inputs / "words").write_text("\n".join(words) + "\n")
    lines = [f"user{i}:" + place.make(system("openssl"), "passwd", "-1", "-salt", "abcdefgh", words[i]).strip()
             for i in range(11, 3000, 400)]
    (place.inputs / "hashes").write_text("\n".join(lines) + "\n")


def prepare_mopac(place):
    prepare_molecules(place)
    atoms = (place.inputs / "water.xyz").read_text().splitlines()[2:]
    (place.inputs / "water.mop").write_text("PM7 1SCF GRADIENTS THREADS=2\nwater\n\n" + "\n".join(atoms) + "\n")


def copied_and(command, *files):
    """A command that works beside copies of its inputs."""
    def arguments(place):
        copies = "; ".join(f"cp '{place.inputs / file}' ." for file in files)
        return ["/bin/sh", "-c", f"{copies}; export HOME=\"$PWD\"; {command}"]
    return arguments


def plastimatch_command(_):
    synth = f"{system('plastimatch')} synth --pattern gauss --dim 48 --spacing 2 --gauss-std 20"
    return ["/bin/sh", "-c", f"{synth} --gauss-center '0 0 0' --output a.mha && "
            f"{synth} --gauss-center '6 4 2' --output b.mha "
            f"&& printf '[GLOBAL]\\nfixed=a.mha\\nmoving=b.mha\\nimg_out=c.mha\\n[STAGE]\\nxform=bspline\\n"
            "impl=plastimatch\\nthreading=openmp\\nmax_its=15\\ngrid_spac=20 20 20\\n' >parms.txt && "
            f"{system('plastimatch')} register parms.txt && {system('plastimatch')} compare a.mha c.mha"]


SCIENCES = [
    Program("G'MIC", "Debian", lambda place: at_home(
        system("gmic"), place.inputs / "image.ppm", "resize", "110%,110%,1,3,5", "fill",
        "i + 20*sin(x/30)*cos(y/20)", "median", "3", "blur", "2", "round", "cut", "0,255", "-o",
        "out.ppm"),
        apt=["gmic", "imagemagick"], prepare=prepare_image, results=file_bytes("out.ppm"), tolerance=0,
        doctor=by_name("gmic")),
    Program("RawTherapee", "Debian", lambda place: at_home(
        system("rawtherapee-cli"), "-q", "-o", "out.tif", "-t", "-Y", "-p", place.inputs / "all.pp3", "-c",
        place.inputs / "image.tif"),
        apt=["rawtherapee", "imagemagick"], prepare=prepare_raw, results=picture_means("out.tif"), tolerance=1e-4,
        doctor=by_name("rawtherapee-cli")),
    Program("darktable", "Debian", lambda place: at_home(
        system("darktable-cli"), place.inputs / "image.png", "out.png", "--core", "--configdir", "settings",
        "--cachedir", "cache", "--disable-opencl", "-t", "2"),
        apt=["darktable", "imagemagick"], prepare=prepare_raw, results=file_pixels("out.png"), tolerance=0),
    Program("Enblend", "Debian", lambda place: [system("enblend"), "-o", "out.tif", place.inputs / "left.tif",
                                                place.inputs / "right.tif"],
            apt=["enblend", "imagemagick"], prepare=prepare_two_pictures, results=file_pixels("out.tif"), tolerance=0,
            doctor=by_name("enblend")),
    Program("torchvision", "Debian", lambda place: [SYSTEM_PYTHON, WORK / "vision_work.py"],
            apt=["python3-torchvision", "python3-torch"], tolerance=1e-3),
    Program("mgcv", "Debian", lambda place: [system("Rscript"), WORK / "mgcv.R"], apt=["r-cran-mgcv"],
            doctor=of_file("/usr/lib/R/library/mgcv/libs/mgcv.so")),
    Program("BLIS", "Debian", lambda place: [place.inputs / "blis"], apt=["libblis-openmp-dev", "gcc"],
            environment={"BLIS_NUM_THREADS": "2"}, doctor=built("blis"),
            prepare=lambda place: place.compile(
                ["gcc"], "blis.c", "-I/usr/include/x86_64-linux-gnu/blis-openmp",
                "-L/usr/lib/x86_64-linux-gnu/blis-openmp", "-Wl,-rpath,/usr/lib/x86_64-linux-gnu/blis-openmp",
                "-lblis", "-lm")),
    Program("Gmsh", "Debian", lambda place: at_home(system("gmsh"), "-3", "-nt", "2", "-format", "msh2", "-o",
                                                    "out.msh",
                                                    WORK / "box.geo"),
            apt=["gmsh"], results=printed(r"^Info +: +\d+ nodes \d+ elements"), tolerance=0.05),
    Program("SAGA", "Debian", copied_and("saga_cmd -c=2 -f=s io_gdal 0 -FILES=hills.asc -GRIDS=hills.sgrd && saga_cmd "
                                         "-c=2 -f=s grid_filter 1 -INPUT=hills.sgrd -RESULT=soft.sgrd -SIGMA=3 && "
                                         "saga_cmd -c=2 -f=s ta_morphometry 0 -ELEVATION=soft.sgrd -SLOPE=slope.sgrd",
                                         "hills.asc"),
            apt=["saga"], prepare=prepare_grid, results=file_bytes("slope.sdat"), tolerance=0),
    Program("Plastimatch", "Debian", plastimatch_command, apt=["plastimatch"],
            results=printed(r"^(?:AVE|MAE|MSE|MIN).*"), tolerance=1e-3),
    Program("BART", "Debian", lambda place: ["/bin/sh", "-c", "bart phantom -x 64 -s 4 -k k && bart caldir 24 k s && "
                                             "bart pics -l1 -r 0.01 -i 10 k s image && bart rss 65535 image norm && "
                                             "echo result norm $(bart show norm | sed 's/[+-]0.000000e+00i//')"],
            apt=["bart"], environment=TWO, tolerance=1e-3, doctor=by_name("bart")),
    Program("John the Ripper", "Debian", lambda place: at_home(
        "/bin/sh", "-c", f"/usr/sbin/john --format=md5crypt --wordlist='{place.inputs}/words' '{place.inputs}/hashes' "
        f">log 2>&1; /usr/sbin/john --show '{place.inputs}/hashes'"),
        apt=["john", "openssl"], prepare=prepare_words, results=printed(r"^user.*"), tolerance=0,
        doctor=of_file("/usr/sbin/john")),
    Program("Kalign", "Debian", lambda place: [system("kalign"), "-i", place.inputs / "proteins.fa", "-o", "aligned.fa",
                                               "--nthreads", "2"],
            apt=["kalign"], prepare=prepare_proteins, results=file_bytes("aligned.fa"), tolerance=0),
    Program("Sumaclust", "Debian", lambda place: [system("sumaclust"), "-t", "0.9", "-p", "2",
                                                  place.inputs / "family120.fa"],
            apt=["sumaclust"], prepare=prepare_family, results=lambda out, _: out.splitlines(), tolerance=0,
            doctor=by_name("sumaclust")),
    Program("MMseqs2", "Debian", lambda place: at_home(
        system("mmseqs"), "easy-search", place.inputs / "proteins.fa", place.inputs / "proteins.fa", "found.m8", "tmp",
        "--threads", "2", "-v", "1"),
        apt=["mmseqs2"], prepare=prepare_proteins, results=file_lines("found.m8"), tolerance=0),
    Program("IQ-TREE", "Debian", lambda place: [system("iqtree2"), "-s", place.inputs / "family16.fa", "-m", "JC", "-n",
                                                "0", "-seed", "1", "-nt", "2", "-redo", "-pre", "tree"],
            apt=["iqtree"], prepare=lambda place: prepare_family(place, 16),
            results=printed(r"^BEST SCORE FOUND.*"), tolerance=1e-5, doctor=by_name("iqtree2")),
    Program("SPAdes", "Debian", lambda place: [system("spades.py"), "--phred-offset", "33", "-t", "2", "-m", "4",
                                               "-k", "21,33", "-1",
                                               place.inputs / "left.fq", "-2", place.inputs / "right.fq", "-o",
                                               "assembled"],
            apt=["spades"], prepare=prepare_reads, results=contigs("assembled/contigs.fasta"), tolerance=0,
            doctor=of_file("/usr/libexec/spades/spades-core")),
    Program("ABySS", "Debian", lambda place: [
        "/bin/sh", "-c", "/usr/lib/abyss/abyss-bloom-dbg -k31 -q3 --kc=2 -b20M -H2 -j2 "
        f"'{place.inputs}/left.fq' '{place.inputs}/right.fq' >out.fa"],
        apt=["abyss"], prepare=prepare_reads, results=contigs("out.fa"), tolerance=0, environment=TWO,
        doctor=of_file("/usr/lib/abyss/abyss-bloom-dbg")),
    Program("IDBA", "Debian", lambda place: [system("idba_ud"), "-r", place.inputs / "reads.fa", "-o", "out",
                                             "--num_threads", "2", "--mink", "25", "--maxk", "25", "--no_local"],
            apt=["idba"], prepare=prepare_reads_together, results=contigs("out/contig.fa"), tolerance=0,
            doctor=by_name("idba_ud")),
    Program("CP2K", "Debian", lambda place: at_home(system("cp2k.psmp"), "-i", WORK / "water.cp2k"),
            apt=["cp2k", "cp2k-data"], environment={**MPI_AS_ROOT, **TWO},
            results=printed(r"^ ENERGY\|.*"), tolerance=1e-7, doctor=by_name("cp2k.psmp")),
    Program("Psi4", "Debian", lambda place: at_home(system("psi4"), "-n", "2", "-i", WORK / "water.psi4", "-o",
                                                    "out.txt"),
            apt=["psi4"], results=printed(r"^ +Total Energy += .*", "out.txt"), tolerance=1e-7),
    Program("NWChem", "Debian", lambda place: at_home(system("nwchem"), WORK / "water.nw"),
            apt=["nwchem", "nwchem-data|nwchem", "libopenblas0-openmp"], environment={**MPI_AS_ROOT, **TWO},
            results=printed(r"^ +Total (?:SCF|MP2) energy.*"), tolerance=1e-7),
    Program("MOPAC", "Debian", copied_and("mopac water.mop", "water.mop"), apt=["mopac", "libopenblas0-openmp"],
            prepare=prepare_mopac, environment=TWO, results=printed(r"FINAL HEAT OF FORMATION.*KCAL", "water.out"),
            tolerance=1e-6, doctor=by_name("mopac")),
]
