#!/usr/bin/python3
"""descriptors.py [--points N] FILE.csv|FILE.npy

Writes N image descriptors of dimension 24, taken from photographs that Debian's packages ship: scipy's face and ascent,
matplotlib's grace_hopper. A descriptor stands for the surroundings of a corner, in three rings around it. For each ring
it says how much of the gradient points in each of eight directions. The directions are relative to the strongest one,
so that turning the image changes little. The length is normalised to 1. The corners are those with the highest response
of Harris's detector, spread over the images and three scales.

Needs python3-numpy, python3-scipy, python3-matplotlib and python3-pil; the same versions give the same file."""

import argparse
import sys
import warnings
from pathlib import Path

RINGS, DIRECTIONS, RADIUS = 3, 8, 9
SCALES = [1.2, 2.4, 4.8]


def images():
    """Grey images, 0 to 1."""
    import matplotlib.cbook
    import matplotlib.image
    import scipy.misc

    warnings.simplefilter("ignore")
    yield scipy.misc.face(gray=True) / 255.0
    yield scipy.misc.ascent() / 255.0
    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as opened:
        yield matplotlib.image.imread(opened, format="jpg").mean(axis=2) / 255.0


def corners(gx, gy, sigma, num):
    """Places (row, column) of the strongest local maxima of Harris's response, strongest first."""
    import numpy
    from scipy import ndimage

    xx, yy, xy = (ndimage.gaussian_filter(p, 2 * sigma) for p in (gx * gx, gy * gy, gx * gy))
    response = xx * yy - xy * xy - 0.05 * (xx + yy) ** 2
    edge = int(RADIUS * sigma) + 2
    best = (response == ndimage.maximum_filter(response, size=3)) & (response > 0)
    best[:edge], best[-edge:], best[:, :edge], best[:, -edge:] = False, False, False, False
    rows, columns = numpy.nonzero(best)
    order = numpy.argsort(-response[rows, columns], kind="stable")[:num]
    return rows[order], columns[order]


def describe(image, sigma, num):
    import numpy
    from scipy import ndimage

    gx, gy = (ndimage.gaussian_filter(image, sigma, order=o) for o in ((0, 1), (1, 0)))
    strength, direction = numpy.hypot(gx, gy), numpy.arctan2(gy, gx)
    reach = int(RADIUS * sigma)
    dy, dx = numpy.mgrid[-reach:reach + 1, -reach:reach + 1]
    ring = (numpy.hypot(dx, dy) * RINGS / (reach + 0.5)).astype(int)
    inside = ring < RINGS
    for row, column in zip(*corners(gx, gy, sigma, num)):
        around = numpy.s_[row - reach:row + reach + 1, column - reach:column + reach + 1]
        weights = strength[around][inside]
        angles = direction[around][inside] / (2 * numpy.pi)
        whole = numpy.bincount((angles % 1 * 36).astype(int) % 36, weights, 36)
        turned = (angles - whole.argmax() / 36) % 1
        bins = ring[inside] * DIRECTIONS + (turned * DIRECTIONS).astype(int) % DIRECTIONS
        found = numpy.bincount(bins, weights, RINGS * DIRECTIONS)
        yield found / max(numpy.linalg.norm(found), 1e-12)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("file", type=Path)
    a = parser.parse_args()
    if a.file.suffix not in (".csv", ".npy") or a.points < 1:
        parser.error("expected a name that ends in .csv or .npy, and at least one point")
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.dont_write_bytecode = True
    try:
        import numpy

        jobs = [(image, sigma) for image in images() for sigma in SCALES]
        per_job = [numpy.array(list(describe(image, sigma, a.points))) for image, sigma in jobs]
    except ImportError as error:
        sys.exit(f"descriptors.py: {error}; needed: python3-numpy python3-scipy python3-matplotlib python3-pil")
    # each image and scale in turn gives its next strongest corner
    rows = [found[i] for i in range(a.points) for found in per_job if i < len(found)][:a.points]
    if len(rows) < a.points:
        sys.exit(f"descriptors.py: the images have only {len(rows)} corners")
    import spheres

    spheres.write(a.file, ([float(x) for x in row] for row in rows), len(rows), RINGS * DIRECTIONS)


if __name__ == "__main__":
    main()
