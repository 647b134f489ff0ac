"""The reasoner's part of a round: one call, or with `check_tool` a conversation in which it may test formulas.

Source: Intern-S1-MO §3, App. A.1. The paper's reasoner has no tool.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.fitting import Growing, Passage
from apps.reasoning.reading.answers import answer_part, thinking_of
from apps.reasoning.reading.proofs import Claim, read_claim, read_claim_again
from apps.reasoning.reading.turns.actions import Action, Finishing, Kind, read_action
from apps.reasoning.scaffolds.intern_s1_mo.asking import EMPTY, content, reason_prompt
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Rollout
from apps.reasoning.scaffolds.running import check_tool
from apps.reasoning.scaffolds.running.hearing import Heard, Reading, asked_before, choosing
from apps.reasoning.scaffolds.running.turns import Conversation, Done, Exchange, Turn, take_turns

_ROLE = "reasoner"
_TOOLS: tuple[Kind, ...] = ("check_formulas",)
#: Later turns and the summarizer read the whole text, shortened only by what fits.
_MOST_SAID = 1_000_000


@dataclass
class _Round:
    """A round of one rollout as the speaker of a conversation. `texts`: the first answers of its turns."""

    rollout: Rollout
    round: int
    role: str = _ROLE
    finishing: Finishing = "claim"
    index: int = 1
    texts: list[Final] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        return f"s{self.rollout.index}/r{self.round}/reason"

    @property
    def about(self) -> str:
        return f"rollout {self.rollout.index}"

    @property
    def place(self) -> Place:
        return Place(rollout=self.rollout.index, round=self.round)


async def reason(x: Exploration, rollout: Rollout, round_: int) -> None:
    """Let the reasoner work for a round; keep its text, its thinking and its claim."""
    now = _Round(rollout, round_)
    if x.params.check_tool:
        await _in_turns(x, now)
        return
    prompt, reading = reason_prompt(x, rollout, round_), _closing(now.texts)
    claim, _, _ = await x.hear(now.prefix, _ROLE, prompt, now.place, reading)
    rollout.reasoned_in = now.prefix
    _keep(now, claim, ())


async def _in_turns(x: Exploration, now: _Round) -> None:
    """A conversation. All of its turns with their findings are the text of the round."""
    hear, act = partial(_heard, x, now), partial(_acted, x, now)
    talk = await take_turns(x.ctx, now, 1 + x.params.check_tool, hear, act, most_said=_MOST_SAID)
    now.rollout.reasoned_in = asked_before(talk.call) or talk.call
    _keep(now, talk.ending, [exchange for exchange in talk.exchanges if exchange.response])


def _keep(now: _Round, claim: Claim | Unscored | None, tested: Sequence[Exchange]) -> None:
    if not now.texts:
        return
    last = answer_part(now.texts[-1].text) if len(now.texts) > len(tested) else ""
    answer = last if isinstance(last, str) else ""
    rollout = now.rollout
    rollout.work = "\n\n".join(text for text in (*(exchange.text for exchange in tested), answer) if text)
    rollout.thinking = "\n\n".join(text for final in now.texts if (text := thinking_of(final)))
    rollout.claims_complete = claim == "complete" and bool(answer)


def _closing(texts: list[Final]) -> Reading[Claim]:
    """The reading of a claim; first answers are kept in `texts`."""

    def read(final: Final) -> Claim | Unscored:
        texts.append(final)
        return read_claim(final)

    return choosing("claim", "claim", ("complete", "partial"), read, read_claim_again, examines=False)


async def _heard(x: Exploration, now: _Round, turn: int, call: str, before: Sequence[Exchange]) -> Heard[Turn[Claim]]:
    """Request one turn: a text with a block to test, or the end of the round."""
    is_last = turn > x.params.check_tool
    closing = _closing(now.texts)

    def read(final: Final) -> Turn[Claim] | Unscored:
        asked = None if is_last else _asks_for_check(final)
        claim = closing.read(final)
        return Turn(asked) if asked is not None else _ended(claim)

    def read_again(second: Final, first: str) -> Turn[Claim] | Unscored:
        return _ended(closing.read_again(second, first))

    offered = (check_tool.FUNCTION,) if x.ctx.calls_functions(_ROLE) and not is_last else ()
    return await x.hear(
        call,
        _ROLE,
        reason_prompt(x, now.rollout, now.round, _turn_form(x, turn, before)),
        now.place,
        Reading[Turn[Claim]](read, closing.asks, read_again, closing.schema, closing.tokens, ending=closing.ending),
        tools=offered,
        stops=() if is_last else (check_tool.STOP,),
    )


def _asks_for_check(final: Final) -> Action | None:
    """The check that an answer asks for, unless a claim follows it."""
    action, text = read_action(final, "claim", (check_tool.STOP,), tools=_TOOLS), final.text.lower()
    if isinstance(action, Unscored):
        return None
    return action if action.called or text.rfind("<claim") < text.rfind("<check_formulas") else None


def _ended(claim: Claim | Unscored) -> Turn[Claim] | Unscored:
    return claim if isinstance(claim, Unscored) else Turn(Action(kind="claim", content=claim), claim)


def _turn_form(x: Exploration, turn: int, before: Sequence[Exchange]) -> Growing:
    """The end of a turn's prompt: the tool and the round so far. The oldest turns are left out first if not all fit."""
    passages = tuple(Passage(f"turn {one.turn}", one.text, float(one.turn)) for one in before)

    def show(kept: Sequence[Passage]) -> str:
        said = content(x, "\n\n".join(one.text for one in kept)) if kept else EMPTY
        return check_tool.turn_form(turn, 1 + x.params.check_tool, said)

    return Growing(passages, show)


async def _acted(
    x: Exploration, now: _Round, turn: int, call: str, action: Action | Unscored, talk: Conversation[Claim]
) -> Done:
    """Test what a turn hands in. A turn whose end could not be read ends the round, as a round without the tool does."""
    if isinstance(action, Unscored):
        return Done(action="claim", problem=action.reason, ends=True)
    left = x.params.check_tool - talk.checks
    return await check_tool.check_done(x.ctx, x.problem.statement, call, action, now.place, left=left)
