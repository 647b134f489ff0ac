"""The computational verifier: reads the formulas of a proof and tests what can be tested, without a model.

Pure: the standard library, SymPy and mpmath. It runs in the application for tests and in the sandbox for everything else.
It refutes with a counterexample, reports tests survived, or says why it did not understand. It never says "proved".
"""
