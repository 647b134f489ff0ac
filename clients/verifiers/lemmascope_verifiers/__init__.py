"""Lemmascope's scaffolds as an environment of `verifiers`: taskset, harness and environment `lemmascope-verifiers`."""

# Before the imports: verifiers looks up the harness here while `running` declares its seat.
__all__ = ["ProofEnv", "ProofTaskset", "ScaffoldHarness", "Unscored", "load_environment"]

from lemmascope_verifiers.harness import ScaffoldHarness
from lemmascope_verifiers.proofs import ProofTaskset, Unscored
from lemmascope_verifiers.running import ProofEnv, load_environment
