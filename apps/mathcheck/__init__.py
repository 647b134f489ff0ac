"""The computational verifier: reads the formulas of a proof and tests them without a model, where possible.

It uses only the standard library, SymPy, mpmath and Z3. Tests run it in the application, everything else in the sandbox. It
proves with a certificate, refutes with a counterexample, reports survived tests, or says why it did not understand.

Not here: final answers (`apps.reasoning.answers`), the sandbox (`workers.sandbox`).
"""
