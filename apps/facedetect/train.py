#!/usr/bin/python3
"""Trains the face detector's network and writes its 951 parameters as text.

  python3 -m venv venv; venv/bin/pip install numpy pillow scikit-image scikit-learn
  apt-get download opencv-doc; dpkg -x opencv-doc_*.deb scenes
  venv/bin/python train.py --scenes scenes --out weights.txt      about 20 minutes of one core

Faces: the 100 of scikit-image's lfw_subset, mirrored, turned, scaled, moved, blended in pairs, lit from a side,
sharpened. Non-faces: its 100 others, windows of scenes without faces (scikit-image, scikit-learn, the package
opencv-doc), faces upside down, faces far too large or beside the window. In each round the network looks through
all scenes; what it takes for a face joins the non-faces, first only what it is sure of, later all
(bootstrapping, as Garcia and Delakis describe it)."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

WIDTH, HEIGHT, STEP = 32, 36, 4
FACE_SIZE, MARGIN = 25, 12  # lfw_subset's pictures, and what is put around them
# Faceless pictures of opencv-doc (a few names are there twice, in two folders: the first is taken).
OPENCV_SCENES = """
    plant aero1 aero3 aloeL aloeR apple baboon blox board building butterfly fruits home leuvenA leuvenB
    licenseplate_motion orange starry_night stuff text_defocus text_motion 000 001 002 HappyFish pca_test1 ellipses
    scenetext01 scenetext02 scenetext03 scenetext04 scenetext05 scenetext06 4_barcodes budapest corridor_fld coins
    water_coins space_shuttle sample checkershadow_illusion4med newspaper pattern_img random_pattern chaxis gbaxis
    chcorners asymetricalPattern ela_original LinuxLogo tutorial_introduction aero_det bilateral black_car cat_det
    deskew fisheye gst_input handSrc houghlines3 ldr_robertson fusion_mertens orig_urban orig_div2k orig_butterfly
    retina_TreeHdr_small sift_keypoints singlemarkersoriginal text_det_test2 white_car surf_kp1 shitomasi_block1
    homography_camera_displacement Morphology_1_Tutorial_Original_Image Hough_Lines_Tutorial_Original_Image
    Back_Projection_Image1 Drawing_2_Tutorial_Result_5 Harris_Detector_Original_Image
    Laplace_Operator_Tutorial_Original_Image Histogram_Equalization_Original_Image
    Bounding_Rects_Circles_Source_Image Warp_Affine_Tutorial_Original_Image Remap_Tutorial_Original_Image
""".split()
SKIMAGE_SCENES = """
    brick cell chelsea coffee coins grass gravel hubble_deep_field ihc moon motorcycle_left page retina rocket text
""".split()


def squash(x):
    return 1.7159 * np.tanh(2 / 3 * x)


def slope(y):
    """squash's derivative, from its value."""
    return 2 / 3 * (1.7159 - y * y / 1.7159)


def box(x):
    """Means of 2 x 2 neighbours, at every place. Subsampling after a convolution is the convolution of these."""
    down = x[..., :-1, :, :] + x[..., 1:, :, :]
    return (down[..., :-1, :] + down[..., 1:, :]) * np.float32(0.25)


def columns(x, size):
    """(channels, size * size, down, across, images): what a mask of size x size sees at every second place."""
    down, across = (x.shape[1] - size) // 2 + 1, (x.shape[2] - size) // 2 + 1
    c = np.empty((x.shape[0], size * size, down, across, x.shape[3]), np.float32)
    for i in range(size):
        for j in range(size):
            c[:, i * size + j] = x[:, i:i + 2 * down - 1:2, j:j + 2 * across - 1:2]
    return c


PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


class Network:
    """Parameters by name; forward() takes images of any size, and gives the output at every fourth pixel."""
    def __init__(self, random):
        def fan(shape, inputs):
            return random.normal(0, 1 / np.sqrt(inputs), shape).astype(np.float32)

        zero = np.zeros
        self.p = {
            "c1": fan((4, 25), 25),
            "c1_bias": zero(4),
            "s1": np.ones(4),
            "s1_bias": zero(4),
            "c2": fan((8, 9), 9),
            "c2_bias": zero(8),
            "c2_pair": fan((6, 2, 9), 18),
            "c2_pair_bias": zero(6),
            "s2": np.ones(14),
            "s2_bias": zero(14),
            "n1": fan((14, 42), 42),
            "n1_bias": zero(14),
            "n2": fan((14, ), 14),
            "n2_bias": zero(1)
        }
        self.p = {name: value.astype(np.float32) for name, value in self.p.items()}
        assert sum(v.size for v in self.p.values()) == 951

    def second(self):
        """C2's masks as one matrix: (14, 4 maps x 9)"""
        m = np.zeros((14, 4, 9), np.float32)
        for k in range(8):
            m[k, k // 2] = self.p["c2"][k]
        for k, pair in enumerate(PAIRS):
            for side, source in enumerate(pair):
                m[8 + k, source] = self.p["c2_pair"][k, side]
        return m.reshape(14, 36)

    def forward(self, x):
        """x: (height, width, images), so that every operation runs along the images."""
        p, k = self.p, {}
        k["in1"] = columns(box(x[None]), 5)
        shape = k["in1"].shape[2:]
        k["c1"] = p["c1"] @ k["in1"].reshape(25, -1) + p["c1_bias"][:, None]
        k["s1"] = squash(k["c1"] * p["s1"][:, None] + p["s1_bias"][:, None]).reshape(4, *shape)
        k["in2"] = columns(box(k["s1"]), 3)
        shape = k["in2"].shape[2:]
        k["c2"] = self.second() @ k["in2"].reshape(36, -1) + np.concatenate([p["c2_bias"], p["c2_pair_bias"]])[:, None]
        k["s2"] = squash(k["c2"] * p["s2"][:, None] + p["s2_bias"][:, None]).reshape(14, *shape)
        down, across = shape[0] - 6, shape[1] - 5
        n1 = np.zeros((14, down, across, shape[2]), np.float32) + p["n1_bias"][:, None, None, None]
        for i in range(7):
            for j in range(6):
                n1 += p["n1"][:, i * 6 + j, None, None, None] * k["s2"][:, i:i + down, j:j + across]
        k["n1"] = squash(n1)
        return squash(np.tensordot(p["n2"], k["n1"], 1) + p["n2_bias"]), k

    def gradients(self, k, out, wanted):
        """Of half the mean squared error; the images are as large as the window."""
        p, g = self.p, {}
        out, n1 = out.reshape(-1), k["n1"].reshape(14, -1)
        d = ((out - wanted) * slope(out) / len(wanted)).astype(np.float32)
        g["n2"], g["n2_bias"] = n1 @ d, d.sum(keepdims=True)
        d = d * p["n2"][:, None] * slope(n1)
        g["n1"], g["n1_bias"] = (k["s2"].reshape(14, 42, -1) @ d[:, :, None])[:, :, 0], d.sum(1)
        d = (d[:, None, :] * p["n1"][:, :, None]).reshape(14, -1) * slope(k["s2"].reshape(14, -1))
        g["s2"], g["s2_bias"] = (d * k["c2"]).sum(1), d.sum(1)
        d = d * p["s2"][:, None]
        m, bias = (d @ k["in2"].reshape(36, -1).T).reshape(14, 4, 9), d.sum(1)
        g["c2"] = np.stack([m[i, i // 2] for i in range(8)])
        g["c2_pair"] = np.stack([[m[8 + i, s] for s in pair] for i, pair in enumerate(PAIRS)])
        g["c2_bias"], g["c2_pair_bias"] = bias[:8], bias[8:]
        d = (self.second().T @ d).reshape(k["in2"].shape)
        down, across, n = d.shape[2:]
        boxed = np.zeros((4, 2 * down + 1, 2 * across + 1, n), np.float32)
        for i in range(3):
            for j in range(3):
                boxed[:, i:i + 2 * down:2, j:j + 2 * across:2] += d[:, i * 3 + j]
        s = np.zeros_like(k["s1"])
        for i in (0, 1):
            for j in (0, 1):
                s[:, i:i + boxed.shape[1], j:j + boxed.shape[2]] += boxed
        d = (s * np.float32(0.25) * slope(k["s1"])).reshape(4, -1)
        g["s1"], g["s1_bias"] = (d * k["c1"]).sum(1), d.sum(1)
        d = d * p["s1"][:, None]
        g["c1"], g["c1_bias"] = d @ k["in1"].reshape(25, -1).T, d.sum(1)
        return g


class Adam:
    def __init__(self, network):
        self.network, self.steps = network, 0
        self.mean = {n: np.zeros_like(v) for n, v in network.p.items()}
        self.square = {n: np.zeros_like(v) for n, v in network.p.items()}

    def step(self, gradients, rate):
        self.steps += 1
        for n, g in gradients.items():
            self.mean[n] += 0.1 * (g - self.mean[n])
            self.square[n] += 0.001 * (g * g - self.square[n])
            mean, square = self.mean[n] / (1 - 0.9**self.steps), self.square[n] / (1 - 0.999**self.steps)
            self.network.p[n] -= (rate * mean / (np.sqrt(square) + 1e-7)).astype(np.float32)


def sample(pictures, which, turn, scale, dx, dy, mirror):
    """Windows of pictures with a margin: one each, turned by radians, the face `scale` times as large, moved by
    pixels of the window."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    x, y = x.ravel() - (WIDTH - 1) / 2, y.ravel() - (HEIGHT - 1) / 2
    unit = (FACE_SIZE / HEIGHT / scale)[:, None]
    x, y = (x[None] - dx[:, None]) * np.where(mirror, -1, 1)[:, None], y[None] - dy[:, None]
    cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
    middle, last = (pictures.shape[1] - 1) / 2, pictures.shape[1] - 1.001
    u = np.clip(middle + unit * (cos * x - sin * y), 0, last)
    v = np.clip(middle + unit * (sin * x + cos * y), 0, last)
    i, j = v.astype(np.int32), u.astype(np.int32)
    fv, fu, n = v - i, u - j, which[:, None]
    value = ((pictures[n, i, j] * (1 - fu) + pictures[n, i, j + 1] * fu) * (1 - fv) +
             (pictures[n, i + 1, j] * (1 - fu) + pictures[n, i + 1, j + 1] * fu) * fv)
    return value.reshape(-1, HEIGHT, WIDTH).astype(np.float32)


def blurred(x):
    p = np.pad(x, ((0, 0), (1, 1), (1, 1)), mode="edge")
    p = (p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]) / 4
    return (p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]) / 4


def lit(x, random, sharpen):
    """Other light, contrast, sharpness and noise; values in -1..1."""
    n = len(x)
    x = x + random.uniform(*sharpen, (n, 1, 1)).astype(np.float32) * (x - blurred(x))
    across, down = np.linspace(-1, 1, WIDTH, dtype=np.float32), np.linspace(-1, 1, HEIGHT, dtype=np.float32)
    side = random.normal(0, 0.12, (n, 2)).astype(np.float32)
    x = x * (1 + side[:, :1, None] * across[None, None]) + side[:, 1:, None] * 0.5 * down[None, :, None]
    mean = x.mean((1, 2), keepdims=True)
    gain, shift = random.uniform(0.55, 1.5, (n, 1, 1)), random.uniform(-0.25, 0.25, (n, 1, 1))
    x = (x - mean) * gain + mean + shift + random.normal(0, 1, x.shape) * random.uniform(0, 0.03, (n, 1, 1))
    return np.clip(x, -1, 1).astype(np.float32)


def stacked(x):
    """(height, width, images)"""
    return np.ascontiguousarray(x.transpose(1, 2, 0))


def make_faces(pictures, n, random):
    which, other = random.integers(0, len(pictures), n), random.integers(0, len(pictures), n)
    turn, scale = random.normal(0, 0.09, n).clip(-0.3, 0.3), random.uniform(0.9, 1.14, n)
    how = (turn, scale, random.uniform(-2, 2, n), random.uniform(-2, 2, n))
    mirror = random.random(n) < 0.5
    faces = sample(pictures, which, *how, mirror)
    blend = (np.where(random.random(n) < 0.4, random.uniform(0.2, 0.5, n), 0)[:, None, None]).astype(np.float32)
    faces = faces * (1 - blend) + blend * sample(pictures, other, *how, random.random(n) < 0.5)
    return lit(faces, random, (-0.3, 1.8))


def make_near_misses(pictures, n, random):
    """What has a face's parts and is none: upside down or on its side, far too large, too small, or far beside the
    window."""
    kind = random.integers(0, 4, n)
    turn = np.where(kind == 0, random.choice([np.pi, np.pi / 2, -np.pi / 2], n), 0) + random.normal(0, 0.1, n)
    scale = np.where(kind == 1, random.uniform(1.9, 3, n), np.where(kind == 2, random.uniform(0.45, 0.6, n), 1))
    angle = random.uniform(0, 2 * np.pi, n)
    distance = np.where(kind == 3, random.uniform(11, 18, n), random.uniform(0, 6, n))
    x = sample(pictures, random.integers(0, len(pictures), n), turn, scale, distance * np.cos(angle),
               distance * np.sin(angle),
               random.random(n) < 0.5)
    return lit(x, random, (-0.3, 1.8))


def grey(path, most=480):
    image = Image.open(path).convert("L")
    image.thumbnail((most, most), Image.Resampling.BOX)
    return np.asarray(image, np.float32) / 127.5 - 1


def read_scenes(folder):
    import skimage
    import sklearn

    found = [p for name in SKIMAGE_SCENES for p in Path(skimage.__file__).parent.glob(f"data/{name}.*")]
    found += sorted(Path(sklearn.__file__).parent.glob("datasets/images/*.jpg"))
    there = {
        p.stem: p
        for p in sorted(folder.rglob("*"), reverse=True) if p.suffix.lower() in (".jpg", ".jpeg") and p.is_file()
    }
    found += [there[name] for name in OPENCV_SCENES if name in there]
    return [grey(p) for p in found]


def scaled(scene, scale):
    height, width = int(scene.shape[0] / scale), int(scene.shape[1] / scale)
    if height < HEIGHT or width < WIDTH:
        return None
    return np.asarray(Image.fromarray(scene).resize((width, height), Image.Resampling.BILINEAR), np.float32)


def false_alarms(network, scenes, least, most, random):
    """Windows of scenes that the network takes for faces, at most `most` a scene and scale; and how many were
    looked at."""
    found, seen = [], 0
    for scene in scenes:
        scene = scene[:, ::-1] if random.random() < 0.5 else scene
        scene = np.ascontiguousarray(scene if random.random() < 0.7 else scene[::-1])
        scene = np.clip(scene * random.uniform(0.7, 1.3) + random.uniform(-0.15, 0.15), -1, 1).astype(np.float32)
        scale = random.uniform(0.8, 1.1)
        while (image := scaled(scene, scale)) is not None:
            out = network.forward(image[..., None])[0][..., 0]
            seen += out.size
            rows, columns = np.nonzero(out > least)
            for k in random.permutation(len(rows))[:most]:
                y, x = rows[k] * STEP, columns[k] * STEP
                found.append(image[y:y + HEIGHT, x:x + WIDTH])
            scale *= 1.2
    return np.array(found, np.float32).reshape(-1, HEIGHT, WIDTH), seen


def random_windows(scenes, n, random):
    found = []
    while len(found) < n:
        image = scaled(scenes[random.integers(len(scenes))], 1.2**random.uniform(-0.5, 12))
        if image is not None:
            for _ in range(8):
                y, x = random.integers(image.shape[0] - HEIGHT + 1), random.integers(image.shape[1] - WIDTH + 1)
                found.append(image[y:y + HEIGHT, x:x + WIDTH])
    return np.array(found[:n], np.float32)


def write(network, path, made):
    shapes = {"c1": 5, "c2": 3, "c2_pair": 9, "n1": 6}
    lines = [f"# {line}" for line in made]
    for name, value in network.p.items():
        lines.append(f"# {name}: {' x '.join(map(str, value.shape))}")
        flat, per_line = value.ravel(), shapes.get(name, 14)
        lines += [" ".join(f"{v:.6g}" for v in flat[i:i + per_line]) for i in range(0, len(flat), per_line)]
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=Path, required=True, help="the folder of the unpacked package opencv-doc")
    parser.add_argument("--out", type=Path, default=Path("weights.txt"))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3500, help="minibatches a round")
    parser.add_argument("--minutes", type=float, default=22,
                        help="the round that begins in their last fifth is the last")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    import skimage

    random = np.random.default_rng(a.seed)
    subset = np.load(Path(skimage.__file__).parent / "data" / "lfw_subset.npy").astype(np.float32) * 2 - 1
    around = ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN))
    pictures, others = (np.pad(part, around, mode="edge") for part in (subset[:100], subset[100:]))
    scenes = read_scenes(a.scenes)
    print(f"{len(pictures)} faces, {len(scenes)} scenes of {sum(s.size for s in scenes) / 1e6:.1f} million pixels",
          file=sys.stderr)
    network, start = Network(random), time.monotonic()
    optimizer = Adam(network)
    n = 3000
    plain = random_windows(scenes, n, random)
    neutral = (np.zeros(n // 4), np.ones(n // 4), np.zeros(n // 4), np.zeros(n // 4), random.random(n // 4) < 0.5)
    small = lit(sample(others, random.integers(0, len(others), n // 4), *neutral), random, (-0.3, 1))
    hard = np.empty((0, HEIGHT, WIDTH), np.float32)
    last, this_round = False, -1
    while not last:
        this_round += 1
        last = this_round == a.rounds - 1 or time.monotonic() - start > 0.8 * a.minutes * 60
        faces, near = make_faces(pictures, 12000, random), make_near_misses(pictures, 3000, random)
        loss, steps = 0.0, a.steps * 2 if last else a.steps
        for step in range(steps):
            rate = 2e-3 * (0.02 if last and step > steps * 0.6 else 0.2 if step > steps * 0.6 else 1)
            parts = [(faces, 64, 1), (plain, 20, -1), (small, 4, -1), (near, 16, -1)]
            parts += [(hard, 56, -1)] if len(hard) else []
            x = np.concatenate([part[random.integers(0, len(part), count)] for part, count, _ in parts])
            wanted = np.concatenate([np.full(count, target, np.float32) for _, count, target in parts])
            out, kept = network.forward(stacked(x))
            optimizer.step(network.gradients(kept, out, wanted), rate)
            loss = 0.998 * loss + 0.002 * float(np.mean((out.reshape(-1) - wanted)**2))
        found, seen = false_alarms(network, scenes, 0.6 * (1 - this_round / a.rounds), 40, random)
        hits = np.mean(network.forward(stacked(make_faces(pictures, 2000, random)))[0] > 0)
        hard = np.concatenate([hard, found])
        if len(hard) > 20000:
            hard = hard[random.permutation(len(hard))[:20000]]
        print(f"round {this_round + 1} of {a.rounds}, {time.monotonic() - start:.0f} s: error {loss:.3f}, "
              f"{100 * hits:.1f}% of new faces found, {len(found)} false alarms in {seen} windows, {len(hard)} kept",
              file=sys.stderr, flush=True)
        write(network, a.out, ["The parameters of the face detector's network, 951 numbers; train.py made them.",
                               f"{this_round + 1} rounds of {a.steps} minibatches, seed {a.seed}."])


if __name__ == "__main__":
    main()
