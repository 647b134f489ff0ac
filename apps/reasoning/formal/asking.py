"""Ask one model for formal texts, outside of any run: its limits, and the state of its calls."""

from dataclasses import dataclass, field

from apps.reasoning.domain.generation import Closing, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import AWAITED, RoleSpec, RunSpec

FAILED = "the call failed: "
READER, JUDGE, DRAFTER = "reader", "judge", "drafter"


class Unread(Exception):
    """A call was not answered; the message gives the reason."""


@dataclass
class FormalModel:
    """The model `alias` behind a dispatcher. `tokens`: limit of an answer; `context_tokens`: of prompt and answer.

    `closing` is how closings of the alias are requested; with a schema, answers are JSON at once. `run` names the calls.
    """

    dispatcher: Dispatcher
    run: str
    alias: str
    tokens: int = 1024
    deadline_s: float = 300.0
    closing: Closing = "schema"
    context_tokens: int | None = None
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)

    def desk(self, statement: str) -> Desk:
        """A desk for calls about a problem. All roles answer without randomness."""
        problem = ProblemText(id=self.run, version=1, title="", statement=statement)
        role = RoleSpec(
            alias=self.alias,
            sampling=Sampling(temperature=0.0, top_p=1.0, max_new_tokens=self.tokens),
            deadline_s=self.deadline_s,
            closing=self.closing,
            context_tokens=self.context_tokens,
        )
        roles = dict.fromkeys((READER, JUDGE, DRAFTER), role)
        spec = RunSpec(problem=problem, scaffold="formal", roles=roles, priority=AWAITED)
        context = RunContext(spec, self.journal, self.dispatcher, NoControls(), run=self.run)
        return Desk(problem, context, structured=self.closing != "text")
