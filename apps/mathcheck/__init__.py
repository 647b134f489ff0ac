"""The computational verifier: reads the formulas of a proof and tests them without a model, where possible.

It uses only the standard library, SymPy and mpmath. Tests run it in the application, everything else in the sandbox. It refutes
with a counterexample, reports survived tests, or says why it did not understand. It never says "proved".

Not here: final answers (`apps.reasoning.answers`), the sandbox (`workers.sandbox`).
"""
