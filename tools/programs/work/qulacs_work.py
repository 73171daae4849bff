"""Qulacs: a random circuit on 15 qubits, and an expectation value."""

import time

from qulacs import Observable, QuantumCircuit, QuantumState

N = 15
start = time.perf_counter()
state = QuantumState(N)
state.set_Haar_random_state(5)
circuit = QuantumCircuit(N)
for layer in range(6):
    for q in range(N):
        circuit.add_RX_gate(q, 0.1 * (q + layer + 1))
        circuit.add_RZ_gate(q, 0.07 * (q + 1))
    for q in range(layer % 2, N - 1, 2):
        circuit.add_CNOT_gate(q, q + 1)
    circuit.add_SWAP_gate(0, N - 1)
    circuit.add_dense_matrix_gate([3, 9], [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1j], [0, 0, 1j, 0]])
circuit.update_quantum_state(state)
observable = Observable(N)
for q in range(N - 1):
    observable.add_operator(0.5, f"Z {q} Z {q + 1}")
    observable.add_operator(0.3, f"X {q}")
value = observable.get_expectation_value(state).real
vector = state.get_vector()
print("time", time.perf_counter() - start)
print("result norm", state.get_squared_norm())
print("result value", round(value, 9))
print("result vector", abs(vector[::100]).sum())
