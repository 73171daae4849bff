"""Qiskit Aer: shots of a noisy circuit, and a state vector, with OpenMP in and over them."""

import time

import qiskit
from qiskit.quantum_info import Statevector
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, depolarizing_error


def circuit(n, depth):
    made = qiskit.QuantumCircuit(n)
    for layer in range(depth):
        for q in range(n):
            made.rx(0.1 * (q + layer + 1), q)
            made.rz(0.07 * (q + 1), q)
        for q in range(layer % 2, n - 1, 2):
            made.cx(q, q + 1)
    return made


noise = NoiseModel()
noise.add_all_qubit_quantum_error(depolarizing_error(0.02, 2), ["cx"])
start = time.perf_counter()
vector_circuit = circuit(15, 4)
vector_circuit.save_statevector()
vector = AerSimulator(method="statevector", max_parallel_threads=2, statevector_parallel_threshold=10)
amplitudes = Statevector(vector.run(vector_circuit).result().get_statevector()).data
noisy_circuit = circuit(10, 4)
noisy_circuit.measure_all()
noisy = AerSimulator(noise_model=noise, max_parallel_threads=2, max_parallel_shots=2, seed_simulator=3)
counts = noisy.run(noisy_circuit, shots=200, seed_simulator=3).result().get_counts()
print("time", time.perf_counter() - start)
print("result amplitudes", round(float(abs(amplitudes).sum()), 6), round(float(amplitudes[12345].real), 9))
print("result counts", len(counts), sum(counts.values()), max(counts.values()))
