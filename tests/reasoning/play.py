"""Playing a scaffold without an engine: a dispatcher that answers by call key, and texts in the formats asked for."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from apps.reasoning.domain.control import Branch
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Closing, Final, GenerationRequest, PromptSet, Sampling, ToolProtocol, Usage
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.values import Value
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Controls
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.hearing import AGAIN
from apps.reasoning.scaffolds.spec import Budget, RoleSpec, RunSpec

PROBLEM = ProblemText(
    id="p1",
    version=1,
    title="Sum",
    statement="Prove that $1+2+\\dots+n=n(n+1)/2$ for all $n\\ge 1$.",
)
#: Solvers are asked for a last line `Answer: …`, and never shown the answer.
WITH_ANSWER = PROBLEM.model_copy(update={"answer": "the secret answer"})
Answer = str | Final | Exception


class TableDispatcher:
    """Answers each call from a table of key patterns; the first pattern that fits counts. Keeps the requests it was sent.

    Who is asked once more and has nothing of its own for that says the same again.

    `shuffle` makes calls end in a random order.
    """

    def __init__(self, table: Mapping[str, Answer | Callable[[GenerationRequest], Answer]], shuffle: int | None = None) -> None:
        self.table = dict(table)
        self.requests: list[GenerationRequest] = []
        self._random = random.Random(shuffle) if shuffle is not None else None

    @property
    def keys(self) -> list[str]:
        return [request.key for request in self.requests]

    def prompt(self, key: str) -> str:
        """The prompt of call `key`."""
        request = next(request for request in self.requests if request.key == key)
        return "\n".join(message.content for message in request.messages)

    async def dispatch(self, request: GenerationRequest) -> Final:
        self.requests.append(request)
        if self._random is not None:
            for _ in range(self._random.randrange(8)):
                await asyncio.sleep(0)
        again = request.key.endswith(f"/{AGAIN}")
        of_it = {pattern: answer for pattern, answer in self.table.items() if again and pattern.endswith(AGAIN)}
        for key, table in ((request.key, of_it), (request.key.removesuffix(f"/{AGAIN}"), self.table)):
            for pattern, answer in table.items():
                if fnmatchcase(key, pattern):
                    found = answer(request) if callable(answer) else answer
                    if isinstance(found, Exception):
                        raise found
                    return found if isinstance(found, Final) else final(found)
        raise AssertionError(f"nothing is written for {request.key}")


class OneByOne(TableDispatcher):
    """Answers calls in the order in which they begin. All that follows from an answer happens before the next one."""

    def __init__(self, table: Mapping[str, Answer | Callable[[GenerationRequest], Answer]], shuffle: int | None = None) -> None:
        super().__init__(table, shuffle)
        self._turn = asyncio.Lock()

    async def dispatch(self, request: GenerationRequest) -> Final:
        async with self._turn:
            for _ in range(25):
                await asyncio.sleep(0)
            return await super().dispatch(request)


def final(text: str, **changes: object) -> Final:
    """A call that ended by itself with `text`."""
    fields: dict[str, object] = {
        "text": text,
        "finish_reason": "stop",
        "usage": Usage(prompt=10, completion=5),
        "ttft_s": 0.1,
        "duration_s": 0.5,
    }
    return Final.model_validate(fields | changes)


def lemma(number: int | str, statement: str, *steps: str) -> str:
    body = "\n".join(f"<step>{step}</step>" for step in steps or ("It is plain from the definition.",))
    return f'<lemma number="{number}">\n<statement>{statement}</statement>\n{body}\n</lemma>'


def proof(*steps: str) -> str:
    return "<proof>\n" + "\n".join(f"<step>{step}</step>" for step in steps) + "\n</proof>"


def verdict(value: int | str, *bad: int, steps: int = 0) -> str:
    log = [f'<check step="{n}" sound="{"no" if n in bad else "yes"}">Looked at.</check>' for n in range(1, steps + 1)]
    return "\n".join([*log, f"<verdict>{value}</verdict>"])


class Fallback(dict[str, Answer]):
    """A table that fills up the one before it: in `table | FOLLOWS` what `table` says counts, and comes first."""

    def __ror__(self, first: Mapping[str, Answer]) -> dict[str, Answer]:  # type: ignore[override]
        return {**first, **{pattern: answer for pattern, answer in self.items() if pattern not in first}}


PASS = verdict(-1)
FOLLOWS = Fallback(
    {
        "s*/r*/reason": "We add the first and the last term.\n<claim>complete</claim>",
        "s*/r1/summarise": lemma(1, "The sum is $S$.", "Write it down.", "Reverse it.")
        + lemma(2, "$2S=n(n+1)$.", "By Lemma 1."),
        "s*/r*/verify/*": PASS,
        "human/verify/*": PASS,
        "final/write/*": proof("By Lemma 2 we have $2S=n(n+1)$.", "Divide by $2$."),
        "final/check/*": PASS,
    }
)
"""A model that keeps to every format and solves the problem in one round."""


def spec(
    budget: Budget | None = None,
    seed: int = 7,
    scaffold: str = "intern_s1_mo",
    tools: ToolProtocol = "text",
    closing: Closing = "text",
    context_tokens: int | None = None,
    prompts: PromptSet = "full",
) -> RunSpec:
    sampling = Sampling(max_new_tokens=min(4096, context_tokens // 2)) if context_tokens else Sampling()
    played = RoleSpec(
        alias="scripted",
        revision="r1",
        sampling=sampling,
        tools=tools,
        closing=closing,
        context_tokens=context_tokens,
        prompts=prompts,
    )
    roles = {role.name: played for role in SCAFFOLDS[scaffold].roles}
    return RunSpec(problem=PROBLEM, scaffold=scaffold, roles=roles, seed=seed, budget=budget or Budget())


class Played:
    """A finished run: outcome, journal and the dispatcher with what it was asked."""

    def __init__(self, outcome: Outcome, journal: InMemoryJournal, dispatcher: TableDispatcher) -> None:
        self.outcome = outcome
        self.journal = journal
        self.dispatcher = dispatcher

    @property
    def events(self) -> dict[str, Event]:
        return {key: event for _, key, event in self.journal.events}

    def of(self, kind: str) -> list[Event]:
        return [event for _, _, event in self.journal.events if event.kind == kind]


async def play(
    table: Mapping[str, Answer | Callable[[GenerationRequest], Answer]],
    params: Value,
    *,
    scaffold: str = "intern_s1_mo",
    journal: InMemoryJournal | None = None,
    controls: Controls | None = None,
    budget: Budget | None = None,
    shuffle: int | None = None,
    seed: int = 7,
    inherited: Callable[[str], StepRecord | None] | None = None,
    tools: ToolProtocol = "text",
    closing: Closing = "text",
    problem: ProblemText | None = None,
    context_tokens: int | None = None,
    prompts: PromptSet = "full",
    one_by_one: bool = False,
    branch: Branch | None = None,
    redraws: Mapping[str, int] | None = None,
) -> Played:
    dispatcher = (OneByOne if one_by_one else TableDispatcher)(table, shuffle)
    journal = journal or InMemoryJournal()
    asked = spec(budget, seed, scaffold, tools, closing, context_tokens, prompts)
    asked = asked.model_copy(update={"branch": branch, "redraws": dict(redraws or {})})
    context = RunContext(asked, journal, dispatcher, controls or NoControls(), backoff_s=0, inherited=inherited)
    stated = problem or (WITH_ANSWER if scaffold == "majority_vote" else PROBLEM)
    return Played(await SCAFFOLDS[scaffold].solve(stated, context, params), journal, dispatcher)


def kinds(events: Sequence[tuple[int, str, Event]]) -> list[tuple[str, str]]:
    """Event keys and kinds, in order: the trace of a run."""
    return [(key, event.kind) for _, key, event in events]
