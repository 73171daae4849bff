"""PySCF: a Hartree-Fock energy, a density functional's, and a coupled-cluster correction."""

import time

import pyscf
from pyscf import cc, dft, scf

pyscf.lib.num_threads(2)
molecule = pyscf.M(atom="O 0 0 0; H 0 0 0.96; H 0.93 0 -0.24", basis="sto-3g",
                   verbose=0)
start = time.perf_counter()
field = scf.RHF(molecule).run()
density = dft.RKS(molecule, xc="b3lyp").run()
gradient = density.nuc_grad_method().kernel()
coupled = cc.CCSD(field).run()
print("time", time.perf_counter() - start)
print("result threads_more_than_one", int(pyscf.lib.num_threads() > 1))
print("result hartree_fock", round(field.e_tot, 7))
print("result functional", round(density.e_tot, 6))
print("result gradient", round(float(abs(gradient).sum()), 3))
print("result coupled", round(coupled.e_tot, 6))
