"""Runs in inspect-ai's environment: evaluate a task without a model on two sums, and print the path of its log."""

import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver


@solver  # type: ignore[untyped-decorator, unused-ignore]
def counts_epochs():  # type: ignore[no-untyped-def]
    """A solver whose answer is the epoch."""

    async def solve(state, generate):  # type: ignore[no-untyped-def]
        state.output = ModelOutput.from_content("mockllm/model", f"ANSWER: {state.epoch}")
        return state

    return solve


samples = [Sample(id=f"sum-{number}", input=f"Find the sum number {number}.", target=str(number)) for number in (1, 2)]
task = Task(dataset=samples, solver=counts_epochs(), scorer=match(), epochs=2, name="sums")
print(eval(task, model="mockllm/model", log_dir=sys.argv[1], display="none")[0].location)  # noqa: T201
