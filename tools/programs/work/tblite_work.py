"""tblite: energies and gradients of tight-binding models of a chain of water molecules."""

import time

import numpy as np
from tblite.interface import Calculator

numbers = np.array([8, 1, 1] * 12)
places = np.concatenate([np.array([[0, 0, 0], [1.8, 0, 0], [-0.45, 1.75, 0]]) + [0, 0.3 * (i % 3), 5.5 * i]
                         for i in range(12)])
start = time.perf_counter()
for method in "GFN1-xTB", "GFN2-xTB":
    calculator = Calculator(method, numbers, places)
    calculator.set("verbosity", 0)
    done = calculator.singlepoint()
    print("result", method, round(float(done.get("energy")), 7), round(float(np.abs(done.get("gradient")).sum()), 5))
print("time", time.perf_counter() - start)
