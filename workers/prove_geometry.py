"""The geometry engine, for one statement: JGEX on standard input, JSON on standard output.

It runs as a script in `.venv-geometry` and imports nothing of ours. newclid places the statement, py-yuclid deduces from it,
and newclid writes the proof. The answer has `proved` (one truth value for each goal, in order), lines of the proof, and
versions. If newclid cannot build the statement, it has `reason` instead.
"""

import json
import logging
import sys
from importlib.metadata import version
from typing import Any

import numpy
from newclid.api import GeometricSolverBuilder
from newclid.jgex.problem_builder import JGEXProblemBuilder
from newclid.predicates import predicate_from_construction
from newclid.proof_data import proof_data_from_state
from newclid.proof_writing import write_proof_sections
from py_yuclid.api_default import HEDefault

#: Seed of the configuration that newclid draws, and how often it draws.
SEED, TRIES = 1, 60


def answer(text: str) -> dict[str, Any]:
    """The engine's answer to a statement."""
    versions = {name: version(name) for name in ("newclid", "py-yuclid")}
    random = numpy.random.default_rng(SEED)
    builder = JGEXProblemBuilder(rng=random).with_problem_from_txt(text)
    try:
        setup = builder.build(max_attempts_to_satisfy_goals_numerically=TRIES)
    except Exception as error:
        return {"versions": versions, "reason": f"newclid cannot build the statement: {error}"[:400]}
    solver = GeometricSolverBuilder(rng=random, api_default=HEDefault()).build(setup)
    solver.run()
    goals = list(setup.goals)
    data = proof_data_from_state(goals_constructions=goals, proof_state=solver.proof_state)
    proved = {str(goal.predicate) for goal in data.proven_goals}
    written = [str(predicate_from_construction(goal, points_registry=solver.proof_state.symbols.points)) for goal in goals]
    sections = write_proof_sections(data)
    return {
        "versions": versions,
        "proved": [goal in proved for goal in written],
        "assumptions": sections.assumptions,
        "checks": sections.numerical_checks,
        "steps": sections.proof_steps,
        "chases": [line for line in sections.appendix_ar if line.strip()],
        "goals": sections.proven_goals,
    }


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    json.dump(answer(sys.stdin.read()), sys.stdout)
