#!/usr/bin/python3
"""references_test.py PROGRAM... - the manycore applications against libraries: FAST, colour tracking and normalised
cross-correlation against OpenCV, Mahalanobis against SciPy, Strassen against NumPy, SHOT against a NumPy implementation
from its definition. A library that is not installed skips its tests; exit status 77 where none is."""

import argparse
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("programs", nargs="+")
PROGRAMS = {Path(p).name: p for p in parser.parse_args().programs}
try:
    import numpy as np
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)
try:
    import cv2

    cv2.setNumThreads(1)
except ImportError:
    cv2 = None
try:
    from scipy.spatial.distance import cdist
except ImportError:
    cdist = None
needs_cv2 = unittest.skipIf(cv2 is None, "python3-opencv is not installed")


def arrays(name, *options, form="numa"):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [PROGRAMS[name], "--form", form, "--save", folder, *map(str, options)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {p.stem: np.load(p) for p in Path(folder).glob("*.npy")}


class References(unittest.TestCase):
    @needs_cv2
    def test_fast(self):
        for options in [["--density", 15], ["--density", 60, "--threshold", 35], ["--scene", "chess", "--width", 128]]:
            for suppress in 0, 1:
                a = arrays("mc-fast", "--suppress", suppress, *options)
                threshold = options[3] if "--threshold" in options else 20
                detector = cv2.FastFeatureDetector_create(
                    threshold, bool(suppress), cv2.FAST_FEATURE_DETECTOR_TYPE_9_16
                )
                expected = np.zeros(a["image"].shape, np.uint8)
                for k in detector.detect(a["image"]):
                    expected[int(k.pt[1]), int(k.pt[0])] = k.response if suppress else 1
                found = a["scores"] if suppress else (a["scores"] > 0).astype(np.uint8)
                self.assertGreater((expected > 0).sum(), 0 if suppress else 500)
                self.assertTrue(np.array_equal(found, expected), (options, suppress, (found != expected).sum()))

    @needs_cv2
    def test_colour_tracking(self):
        frames = 4
        a = arrays("mc-color", "--frames", frames)
        pictures = a["frames"].reshape(frames, -1, *a["frames"].shape[1:])
        added, masks = a["added"].reshape(pictures.shape), a["masks"].reshape(pictures.shape[:3])
        track = np.zeros(masks.shape[1:], np.uint8)
        places = []
        for f in range(frames):
            mask = cv2.inRange(cv2.cvtColor(pictures[f], cv2.COLOR_RGB2HSV), (0, 120, 80), (15, 255, 255))
            self.assertTrue(np.array_equal(masks[f], mask), f)
            m = cv2.moments(mask, binaryImage=True)
            self.assertEqual(list(a["moments"][f]), [m["m00"], m["m10"], m["m01"]])
            places.append((int(m["m10"] // m["m00"]), int(m["m01"] // m["m00"])))
            drawn = (added[f].astype(int) - pictures[f]).max(axis=2) > 0
            if f:
                cv2.line(track, places[f - 1], places[f], 200)
                # lines of one pixel may differ by one pixel across
                wide = cv2.dilate(track, np.ones((3, 3), np.uint8)) > 0
                self.assertFalse((drawn & ~wide).any(), f)
                self.assertEqual(drawn[places[f][1], places[f][0]], True)
            mine = np.where(drawn, 200, 0).astype(np.uint8)
            self.assertTrue(np.array_equal(added[f], cv2.add(pictures[f], cv2.merge([mine] * 3))), f)
        self.assertEqual(len(set(places)), frames)

    @needs_cv2
    def test_correlation(self):
        for options in [[], ["--width", 160, "--height", 70, "--template", 16, "--x", 100, "--y", 40]]:
            a = arrays("mc-ncc", *options)
            expected = cv2.matchTemplate(a["image"], a["template"], cv2.TM_CCOEFF_NORMED)
            self.assertEqual(a["map"].shape, expected.shape)
            self.assertLess(np.abs(a["map"] - expected).max(), 1e-4)  # OpenCV sums in single precision
            self.assertAlmostEqual(float(a["map"].max()), 1, places=5)

    @unittest.skipIf(cdist is None, "python3-scipy is not installed")
    def test_mahalanobis(self):
        a = arrays("mc-mahalanobis", "--first", 96, "--second", 160)
        points = a["points"][:, :3].astype(float)
        expected = cdist(points[:96], points[96:], "mahalanobis")
        self.assertLess(np.abs(a["distances"] / expected - 1).max(), 1e-4)

    def test_strassen(self):
        for options in [["--size", 64], ["--size", 56, "--depth", 1]]:
            a = arrays("mc-strassen", *options)
            self.assertTrue(np.array_equal(a["result"], a["left"].astype(float) @ a["right"].astype(float)))

    def test_shot(self):
        radius = 0.25
        a = arrays("mc-shot", "--points", 400, "--keys", 50, "--radius", 250)
        at, normal = a["cloud"][:, :3].astype(float), a["cloud"][:, 4:7].astype(float)
        self.assertLess(np.abs(np.linalg.norm(normal, axis=1) - 1).max(), 1e-6)
        for k, key in enumerate(a["keys"]):
            frame = self.frame(at, at[key], radius)
            found = a["frames"][k, :9].reshape(3, 3)
            self.assertLess(np.abs(found - frame).max(), 2e-3, k)
            histogram = self.histogram(at, normal, key, radius, found)
            self.assertLess(np.abs(a["histograms"][k] - histogram).max(), 2e-3, k)
            self.assertAlmostEqual(float(np.linalg.norm(a["histograms"][k])), 1, places=5)

    @staticmethod
    def frame(at, key, radius):
        way = at - key
        distance = np.linalg.norm(way, axis=1)
        way, weight = way[distance <= radius], (radius - distance)[distance <= radius]
        _, vectors = np.linalg.eigh((way * weight[:, None]).T @ way / weight.sum())  # eigenvalues rise
        x, z = vectors[:, 2], vectors[:, 0]
        surplus = [
            np.sign(np.where(np.linalg.norm(way, axis=1) > 0, way @ v, 0)).sum() or np.sign(v[np.abs(v).argmax()])
            for v in (x, z)
        ]
        x, z = (v * np.sign(s) for v, s in zip((x, z), surplus))
        return np.array([x, np.cross(z, x), z])

    @staticmethod
    def histogram(at, normal, key, radius, frame):
        bins, histogram = (8, 2, 2, 11), np.zeros((8, 2, 2, 11))
        way = at - at[key]
        distance = np.linalg.norm(way, axis=1)
        for i in np.nonzero((distance <= radius) & (distance > 0))[0]:
            x, y, z = frame @ way[i]
            angle = np.arctan2(y, x) % (2 * np.pi)
            place = [
                angle * 8 / (2 * np.pi) - 0.5,
                z / distance[i] + 0.5,
                distance[i] / radius * 2 - 0.5,
                (np.clip(normal[i] @ frame[2], -1, 1) + 1) * 5,
            ]
            shares = []
            for d, (p, n) in enumerate(zip(place, bins)):
                low = int(np.floor(p))
                pairs = [(low, 1 - (p - low)), (low + 1, p - low)]
                # azimuth goes round; beyond the other dimensions' outermost centres all goes into the outermost bin
                shares.append([(b % n, s) if d == 0 else (min(max(b, 0), n - 1), s) for b, s in pairs])
            for a, wa in shares[0]:
                for e, we in shares[1]:
                    for r, wr in shares[2]:
                        for c, wc in shares[3]:
                            histogram[a, e, r, c] += wa * we * wr * wc
        return histogram.ravel() / np.linalg.norm(histogram)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
