"""A trial without an engine: one easy problem and scripted models."""

from apps.problems.samples import FOLDER, first_steps, sample_read
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Final, GenerationRequest, Sampling, Usage
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.trial_events import RoleTried
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import Budget, RoleSpec, RunSpec
from apps.reasoning.trying.material import Attempt
from apps.reasoning.trying.program import NAME, Params, solve
from apps.reasoning.trying.stage import MODEL

SLUG = "two-means"
DRAFT = sample_read(FOLDER / "first_steps" / f"{SLUG}.md")
PROBLEM = ProblemText(id=SLUG, version=1, title=DRAFT.title, statement=DRAFT.statement, answer="0")
ATTEMPTS = tuple(Attempt.model_validate(one.shown) for one in first_steps()[SLUG])
REFERENCES = (ATTEMPTS[0].text, DRAFT.solutions[0].text)
_PASSES = "Every step follows from the one before.\n<decision>pass</decision>"


class Model:
    """A model that answers every call with `text`, repeated requests with `again`. Records the requests."""

    def __init__(self, text: str = _PASSES, *, again: str = "", is_broken: bool = False) -> None:
        self.text, self.again, self.is_broken = text, again or text, is_broken
        self.requests: list[GenerationRequest] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        self.requests.append(request)
        if self.is_broken:
            raise BackendError("the engine is gone")
        is_second = sum(message.role == "assistant" for message in request.messages) > 0
        usage = Usage(prompt=10, completion=7)
        return Final(text=self.again if is_second else self.text, finish_reason="stop", usage=usage, duration_s=0.5)


class Tried:
    """A finished trial with its recorded answers."""

    def __init__(self, outcome: Outcome, journal: InMemoryJournal, model: Model) -> None:
        self.outcome, self.journal, self.model = outcome, journal, model
        self.answers = [event for _, _, event in journal.events if isinstance(event, RoleTried)]

    def of(self, method: str, role: str) -> dict[str, RoleTried]:
        """Answers of one role, by attempt."""
        return {one.attempt: one for one in self.answers if (one.method, one.role) == (method, role)}


async def play(
    model: Model | None = None,
    *,
    methods: tuple[str, ...] = (),
    journal: InMemoryJournal | None = None,
    calls: int | None = None,
    context: int | None = None,
) -> Tried:
    """Run a trial on the problem of the two means."""
    model, journal = model or Model(), journal or InMemoryJournal()
    roles = {MODEL: RoleSpec(alias="scripted", sampling=Sampling(max_new_tokens=500), context_tokens=context)}
    spec = RunSpec(problem=PROBLEM, scaffold=NAME, roles=roles, budget=Budget(calls=calls))
    ctx = RunContext(spec, journal, model, NoControls(), backoff_s=0.0)
    scheme = scheme_import(DRAFT.scheme_text).scheme
    params = Params(attempts=ATTEMPTS, references=REFERENCES, scheme=scheme, methods=methods, limit=500)
    return Tried(await solve(PROBLEM, ctx, params), journal, model)
