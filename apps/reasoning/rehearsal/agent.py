"""A simulated agent: a backend that answers every call of every scaffold in the form that its prompt asks for."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Usage
from apps.reasoning.domain.trial_events import AttemptKind
from apps.reasoning.rehearsal.arguments import Argument, Memory
from apps.reasoning.rehearsal.chances import amount, mark, uniform
from apps.reasoning.rehearsal.scripts import CANNOT_JUDGE, MOST, Script, Scripts, points_form
from apps.reasoning.rehearsal.skills import JUDGES, Skill, Skills
from apps.reasoning.scaffolds.running.hearing import asked_before
from apps.reasoning.trying.stand_ins import stand_in

CHARACTERS_A_TOKEN = 4
UNREADABLE = "I am not sure how to say this."
_WRITERS = ("solver*", "improver", "corrector*", "refiner", "aggregator", "writer", "reviser", "reasoner")
_VALUE = re.compile(r"Value: ([0-9.]+)")
_SOLUTION = re.compile(r"^#*\s*Solution (\d{1,3})\b", re.MULTILINE)
#: Graders of scripts show one of these forms.
_POINTS = ("<points>", "`points`")
_ROUND = re.compile(r"/r(\d+)/")


@dataclass(frozen=True)
class Turn:
    """A call with what its agent can. `first`: key of the first call if this one asks for an unread answer again."""

    request: GenerationRequest
    prompt: str
    skill: Skill
    first: str

    @property
    def is_again(self) -> bool:
        return bool(self.first)

    @property
    def writes(self) -> bool:
        return any(fnmatchcase(self.request.role, one) for one in _WRITERS)

    @property
    def judges(self) -> bool:
        return any(fnmatchcase(self.request.role, one) for one in JUDGES)

    @property
    def grades(self) -> bool:
        """It is asked for the points of a script."""
        return self.judges and any(one in self.prompt for one in _POINTS)


class SimulatedAgent:
    """Implements `Backend` for all models of one cell; an alias and a role decide the skill.

    `method`: the scaffold or grader. `seed`: names all draws, so that equal calls of equal cells get equal answers. `scripts`:
    what people gave to scripts that it may be shown; with them it judges no other text that it does not know.
    """

    def __init__(self, skills: Skills, method: str, problem: str, seed: str, scripts: Scripts | None = None) -> None:
        self.memory, self._scripts = Memory(), scripts
        self._skills, self._method, self._problem, self._seed = skills, method, problem, seed
        self._difficulty = skills.difficulty(problem)

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        yield self.answer(request)

    def answer(self, request: GenerationRequest) -> Final:
        """The answer to a call. One with more tokens than the call allows is cut off in its thinking."""
        prompt = "\n".join(message.content for message in request.messages)
        skill = self._skills.of(request.alias, request.role)
        turn = Turn(request, prompt, skill, asked_before(request.key))
        limit = request.sampling.max_new_tokens
        said, thought = self._length(turn, "said", skill.answer_tokens), 0
        if turn.is_again and not turn.writes:  # Only the closing is asked for.
            said = min(said, limit)
        else:
            thought = self._length(turn, "thought", skill.thinking_tokens)
        is_cut = said + thought > limit
        text = self._text(turn, said)
        if is_cut or self._draw(turn, "unreadable") < skill.unreadable:
            text = "" if is_cut else UNREADABLE
        completion = min(said + thought, limit)
        read = len(prompt) // CHARACTERS_A_TOKEN + sum(one.tokens for one in self.memory.all_in(prompt))
        return Final(
            text=text,
            finish_reason="length" if is_cut else "stop",
            usage=Usage(prompt=read, completion=completion, reasoning=min(thought, completion)),
            ttft_s=0.0,
            duration_s=completion / skill.tokens_per_s,
        )

    async def abort(self, call_id: str) -> None:
        """Nothing to do: answers are given at once."""

    async def health(self) -> Health:
        """Always ready."""
        return Health(state="ready", detail="A simulated agent.")

    async def close(self) -> None:
        """Nothing to do."""

    # --- draws ---------------------------------------------------------------------------------------------------------

    def _draw(self, turn: Turn, what: str) -> float:
        return uniform(self._seed, turn.request.key, turn.request.role, what)

    def _length(self, turn: Turn, what: str, mean: float) -> int:
        return max(1, round(amount(mean, turn.skill.spread, self._seed, turn.request.key, turn.request.role, what)))

    # --- answers -------------------------------------------------------------------------------------------------------

    def _text(self, turn: Turn, tokens: int) -> str:
        role = turn.request.role
        if turn.writes:
            return self._solution(turn, tokens)
        given = self.memory.named_in(turn.prompt)
        if turn.grades:
            return self._graded(turn, given)
        if not given and turn.judges and self._scripts is not None:
            return CANNOT_JUDGE
        if not given:
            return self._said(turn, Argument("00000000", is_right=False, tokens=0), "right")
        if role == "judge":
            return self._compared(turn, given)
        if role == "consolidator":
            return self._grouped(turn)
        if role == "meta_verifier":
            return self._checked(turn, given[0])
        if turn.judges:
            return self._said(turn, given[0], self._verdict(turn, given[0]))
        return self._carried(turn, given[-1])

    def _said(self, turn: Turn, about: Argument, kind: AttemptKind) -> str:
        return stand_in(self._method, turn.request, about.as_judged(kind))

    def _solution(self, turn: Turn, tokens: int) -> str:
        given = self.memory.named_in(turn.prompt)
        is_work = turn.request.role == "reasoner"
        name = mark(self._seed, turn.first or turn.request.key, turn.request.role, turn.is_again)
        made = self.memory.add(Argument(name, self._is_right(turn, given), tokens, "Reasoning" if is_work else "Argument"))
        text = self._said(turn, made, "right")
        if is_work and not made.is_right and self._draw(turn, "notices") < turn.skill.spots:
            text = text.replace("<claim>complete</claim>", "<claim>partial</claim>")
        return text

    def _is_right(self, turn: Turn, given: Sequence[Argument]) -> bool:
        """Whether a new solution is right: solved afresh, or made from the given one that its writer finds best."""
        draw, skill = self._draw(turn, "right"), turn.skill
        if not given:
            return draw < skill.solving(self._problem, self._difficulty)
        liked = [one for one in given if self._verdict(turn, one) == "right"] or given
        start = liked[int(self._draw(turn, "from") * len(liked))]
        return draw < (skill.keeps if start.is_right else skill.fixing(self._problem, self._difficulty))

    def _verdict(self, turn: Turn, about: Argument) -> AttemptKind:
        """What the agent finds: by a draw of its own for each text or, so often, for each text and call."""
        skill, role = turn.skill, turn.request.role.rstrip("_0123456789")
        chance = skill.passes if about.is_right else 1 - skill.spots
        is_again = uniform(self._seed, turn.request.key, about.name, "again") < skill.same_again
        where = turn.request.alias if is_again else turn.request.key
        if uniform(self._seed, where, role, about.name, "passes") < chance:
            return "right"
        return "gap" if uniform(self._seed, turn.request.key, about.name, "kind") < 0.5 else "wrong"

    def _graded(self, turn: Turn, given: Sequence[Argument]) -> str:
        """Points for a script of a person, else for a text of an agent; of another text it says that it cannot judge it."""
        script = self._scripts.found_in(turn.prompt) if self._scripts is not None else None
        if script is not None:
            return points_form(turn.prompt, sum(self._gives(turn, script, point) for point in range(MOST)))
        if given:
            return points_form(turn.prompt, given[0].as_judged(self._verdict(turn, given[0])).points)
        return CANNOT_JUDGE

    def _gives(self, turn: Turn, script: Script, point: int) -> bool:
        """Whether it gives one of the seven points: an earned one as `passes` says, another one unless it `spots` that."""
        skill, key = turn.skill, turn.first or turn.request.key
        earned = min(1.0, max(0.0, script.points - point))
        chance = earned * skill.passes + (1 - earned) * (1 - skill.spots)
        is_again = uniform(self._seed, key, script.name, point, "again") < skill.same_again
        where = turn.request.alias if is_again else f"{self._seed}/{key}"
        return uniform(where, turn.request.role, script.name, point, "gives") < chance

    def _compared(self, turn: Turn, given: Sequence[Argument]) -> str:
        """The better of two: the one that it passes; otherwise by a draw."""
        first, second = given[0], given[-1]
        passes = [self._verdict(turn, one) == "right" for one in (first, second)]
        is_first = self._draw(turn, "better") < 0.5 if passes[0] == passes[1] else passes[0]
        return f"They differ in one step.\n<better>{'A' if is_first else 'B'}</better>"

    def _checked(self, turn: Turn, about: Argument) -> str:
        """Whether a report is founded: one with the full score on a right proof, or with less on a wrong one."""
        found = _VALUE.findall(turn.prompt)
        is_founded = (bool(found) and float(found[-1].rstrip(".")) == 1) == about.is_right
        chance = turn.skill.passes if is_founded else 1 - turn.skill.spots
        return f"I compared the report with the proof.\n<score>{int(self._draw(turn, 'founded') < chance)}</score>"

    def _grouped(self, turn: Turn) -> str:
        """Groups of equal answers; the likeliest one has the most members that it passes."""
        places = list(_SOLUTION.finditer(turn.prompt))
        groups: dict[str, list[tuple[int, Argument]]] = {}
        for place, end in zip(places, [*(one.start() for one in places[1:]), len(turn.prompt)], strict=True):
            if named := self.memory.named_in(turn.prompt[place.end() : end]):
                groups.setdefault(named[0].answer, []).append((int(place[1]), named[0]))
        rows = list(groups.values())
        liked = [sum(self._verdict(turn, one) == "right" for _, one in row) for row in rows]
        likeliest = max(range(len(rows)), key=lambda at: (liked[at], len(rows[at])), default=0) + 1
        lines = [
            f'<group number="{at}">{", ".join(str(number) for number, _ in row)}</group>' for at, row in enumerate(rows, 1)
        ]
        return "\n".join(["They agree in their answers.", *lines, f"<likeliest>{likeliest}</likeliest>"])

    def _carried(self, turn: Turn, about: Argument) -> str:
        """A summary, which names the argument that it summarises."""
        if turn.request.role == "abstractor":
            return f"<checkpoints>{about.text}</checkpoints>"
        if turn.request.role == "summarizer" and self._method == "reasoning_cache":
            return f"<state>{about.text}</state>"
        text = self._said(turn, about, "right")
        number = _ROUND.search(turn.request.key)
        return text.replace('<lemma number="1">', f'<lemma number="{number[1]}">') if number else text
