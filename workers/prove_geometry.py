"""The geometry engine, for one statement: JGEX on standard input, JSON on standard output.

It runs as a script in `.venv-geometry` and imports nothing of ours. newclid places the statement, py-yuclid deduces from it,
and newclid writes the proof. The answer has the versions and, for each goal in order, the lines of its proof, or `reason`
where there is none.
"""

import json
import logging
import sys
from importlib.metadata import version
from typing import Any

import numpy
from newclid.api import GeometricSolverBuilder
from newclid.jgex.problem_builder import JGEXProblemBuilder
from newclid.proof_data import proof_data_from_state
from newclid.proof_writing import write_proof_sections
from py_yuclid.api_default import HEDefault

#: Seed of the configuration that newclid draws, and how often it draws.
SEED, TRIES = 1, 60


def answer(text: str) -> dict[str, Any]:
    """The engine's answer to a statement."""
    setup, _, goals = text.partition("?")
    return {
        "versions": {name: version(name) for name in ("newclid", "py-yuclid")},
        "goals": [proof_of(f"{setup}? {goal.strip()}") for goal in goals.split(";")],
    }


def proof_of(text: str) -> dict[str, Any]:
    """The proof of a statement with one goal: py-yuclid deduces nothing for goals if it cannot prove all of them."""
    random = numpy.random.default_rng(SEED)
    try:
        setup = JGEXProblemBuilder(rng=random).with_problem_from_txt(text).build(TRIES)
        solver = GeometricSolverBuilder(rng=random, api_default=HEDefault()).build(setup)
        solver.run()
        data = proof_data_from_state(goals_constructions=list(setup.goals), proof_state=solver.proof_state)
    except Exception as error:  # newclid raises for statements that it cannot build, and for goals outside its rules.
        return {"reason": str(error)[:300]}
    if data.unproven_goals or not data.proven_goals:
        return {"reason": "no proof"}
    sections = write_proof_sections(data)
    return {"assumptions": sections.assumptions, "checks": sections.numerical_checks, "steps": sections.proof_steps}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    json.dump(answer(sys.stdin.read()), sys.stdout)
