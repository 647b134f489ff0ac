"""The state machines of a request for hints and of its text as tables: every move, allowed or refused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.contests.services import ContestRefused
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.feedback import FeedbackRefused
from apps.results.models import FeedbackRequest, HintProposal, ProposalState, RungAsked
from apps.results.proposals import ProposalRefused, proposal_again, proposal_decline
from apps.submissions.models import Submission, SubmissionVersion
from apps.submissions.services import draft_save, version_hand_in, version_withdraw
from tests.contests.factory import TEXT, enter, hand_in, make_contest, moved
from tests.moves import REFUSED, Moves, tried

NONE, ASKED, PROPOSED, GIVEN, WAITED, SECOND = "none", "asked", "proposed", "given", "waited", "second asked"
MARKING, OFF, NEWER = "being marked", "turned off", "newer text"


class Hints:
    """A text of Charlie's in an open contest with hints: Charlie asks, Bob answers, and a model proposes."""

    def __init__(self, bob: User, charlie: User) -> None:
        self.bob = bob
        self.problem: ContestProblem = make_contest(bob, state=ContestState.OPEN).problems.get()
        self.rules(is_on=True)
        self.paper, _ = enter(self.problem.contest, charlie)
        self.version = hand_in(self.paper, self.problem)

    def rules(self, *, is_on: bool) -> None:
        feedback.rules_save(problem=self.problem, is_on=is_on, rules=Rules(), by=self.bob, writer="tutor")

    def request(self) -> FeedbackRequest | None:
        return FeedbackRequest.objects.order_by("-pk").first()

    def state(self) -> str:
        rungs = [f"{one.level}{'' if one.given_at else '?'}" for one in RungAsked.objects.order_by("request", "level")]
        proposals = HintProposal.objects.order_by("rung__level").values_list("state", flat=True)
        return f"{' '.join(rungs) or 'none'}; {' '.join(proposals) or 'none'}"

    def moved_to(self, state: str) -> "Hints":
        if state == NONE:
            return self
        self.opened()
        if state in (PROPOSED, MARKING):
            HintProposal.objects.update(state=ProposalState.READY, text="Which primes?", level=0)
        if state in (GIVEN, WAITED, SECOND):
            self.given()
        if state in (WAITED, SECOND):
            RungAsked.objects.update(given_at=timezone.now() - timedelta(hours=1))
        if state == SECOND:
            self.asked("I tried.")
        if state == MARKING:
            moved(self.problem.contest, ContestState.MARKING)
            setup_save(problem=self.problem, choices=Choices(scheme=None), by=self.bob)
            cases_prepare(self.problem)
        elif state == OFF:
            self.rules(is_on=False)
        elif state == NEWER:
            hand_in(self.paper, self.problem, f"{TEXT} And more.")
        return self

    def opened(self) -> FeedbackRequest:
        version = SubmissionVersion.objects.select_related("submission__problem__contest").get(pk=self.version.pk)
        return feedback.request_open(version=version, track="repair", words="Is step 2 right?")

    def asked(self, tried_words: str, level: int = 1) -> RungAsked | None:
        request = self.request()
        return feedback.rung_ask(request=request, level=level, tried=tried_words) if request else None

    def given(self, text: str = "Look again.") -> RungAsked | None:
        rung = RungAsked.objects.order_by("-level").first()
        return feedback.rung_give(asked=rung, text=text, by=self.bob, confirms=True) if rung else None

    def declined(self) -> bool | None:
        proposal = HintProposal.objects.order_by("-rung__level").first()
        if proposal is None:
            return None
        proposal_decline(proposal=proposal, by=self.bob)
        return True

    def again(self) -> HintProposal | None:
        rung = RungAsked.objects.order_by("-level").first()
        return proposal_again(rung=rung, rules=feedback.rules_of(self.problem), by=self.bob) if rung else None

    def moves(self) -> Moves:
        return {
            "opens": self.opened,
            "asks without a word": lambda: self.asked(""),
            "asks": lambda: self.asked("I tried $n = 1$."),
            "asks two ahead": lambda: self.asked("I tried.", level=3),
            "coach gives": self.given,
            "coach gives nothing": lambda: self.given(" "),
            "coach declines": self.declined,
            "model again": self.again,
        }


_NO = dict.fromkeys(
    (
        "opens", "asks without a word", "asks", "asks two ahead", "coach gives", "coach gives nothing", "coach declines",
        "model again",
    ),
    REFUSED,
)  # fmt: skip
_OPEN = {**_NO, "coach gives": "0; declined", "coach declines": "0?; declined"}
HINTS = {
    NONE: {**_NO, "opens": "0?; queued"},
    ASKED: _OPEN,
    PROPOSED: {**_OPEN, "model again": "0?; queued"},
    GIVEN: _NO,
    WAITED: {**_NO, "asks": "0 1?; declined queued"},
    SECOND: {
        **_NO, "asks without a word": "0 1?; declined queued", "asks": "0 1?; declined queued",
        "coach gives": "0 1; declined declined", "coach declines": "0 1?; declined declined",
    },
    MARKING: {**_NO, "coach declines": "0?; declined"},
    OFF: _OPEN,
    NEWER: _OPEN,
}  # fmt: skip


@pytest.mark.parametrize("state", HINTS)
def test_a_request_for_hints_moves_as_the_table_says(state: str, bob: User, charlie: User) -> None:
    hints = Hints(bob, charlie).moved_to(state)
    assert tried(hints.moves(), hints.state, FeedbackRefused, ProposalRefused) == HINTS[state]


EMPTY, DRAFTED, IN, TWICE, BACK, OVER = "empty", "drafted", "handed in", "handed in twice", "withdrawn", "over"


class Text:
    """Charlie's text on a problem, from the first draft to the end of the contest."""

    def __init__(self, bob: User, charlie: User) -> None:
        self.paper, self.problem = enter(make_contest(bob, state=ContestState.OPEN), charlie)

    def moved_to(self, state: str) -> "Text":
        if state == DRAFTED:
            self.saved(TEXT)
        if state in (IN, TWICE, BACK, OVER):
            hand_in(self.paper, self.problem)
        if state == TWICE:
            hand_in(self.paper, self.problem, f"{TEXT} And more.")
        elif state == BACK:
            self.withdrawn("-number")
        elif state == OVER:
            moved(self.problem.contest, ContestState.MARKING)
        self.paper.refresh_from_db()
        return self

    def state(self) -> str:
        versions = SubmissionVersion.objects.order_by("number")
        rows = [f"{one.number}{'' if one.withdrawn_at is None else 'x'}" for one in versions]
        draft = Submission.objects.values_list("draft", flat=True).first()
        return f"{' '.join(rows) or 'none'}; {len(draft or '')}"

    def saved(self, text: str) -> Submission:
        row = Submission.objects.filter(paper=self.paper).first()
        based_on = row.row_version if row else 0
        paper = type(self.paper).objects.select_related("contest").get(pk=self.paper.pk)
        return draft_save(paper=paper, problem=self.problem, text=text, text_format="markdown", based_on=based_on)

    def handed_in(self, text: str) -> SubmissionVersion:
        row = Submission.objects.filter(paper=self.paper).first()
        paper = type(self.paper).objects.select_related("contest").get(pk=self.paper.pk)
        based_on = row.row_version if row else 0
        return version_hand_in(paper=paper, problem=self.problem, text=text, text_format="markdown", based_on=based_on)

    def withdrawn(self, order: str) -> bool | None:
        version = SubmissionVersion.objects.order_by(order).first()
        if version is None:
            return None
        version_withdraw(version=version)
        return True

    def moves(self) -> Moves:
        return {
            "save": lambda: self.saved("Short."),
            "hand in": lambda: self.handed_in("Short."),
            "hand in the same": lambda: self.handed_in(TEXT),
            "hand in nothing": lambda: self.handed_in(" "),
            "withdraw newest": lambda: self.withdrawn("-number"),
            "withdraw oldest": lambda: self.withdrawn("number"),
        }


SHORT, LONG, LONGER = 6, len(TEXT), len(f"{TEXT} And more.")
TEXTS = {
    EMPTY: {
        "save": "none; 6", "hand in": "1; 6", "hand in the same": f"1; {LONG}", "hand in nothing": REFUSED,
        "withdraw newest": REFUSED, "withdraw oldest": REFUSED,
    },
    DRAFTED: {
        "save": "none; 6", "hand in": "1; 6", "hand in the same": f"1; {LONG}", "hand in nothing": REFUSED,
        "withdraw newest": REFUSED, "withdraw oldest": REFUSED,
    },
    IN: {
        "save": "1; 6", "hand in": "1 2; 6", "hand in the same": f"1; {LONG}", "hand in nothing": REFUSED,
        "withdraw newest": f"1x; {LONG}", "withdraw oldest": f"1x; {LONG}",
    },
    TWICE: {
        "save": "1 2; 6", "hand in": "1 2 3; 6", "hand in the same": f"1 2 3; {LONG}", "hand in nothing": REFUSED,
        "withdraw newest": f"1 2x; {LONGER}", "withdraw oldest": REFUSED,
    },
    BACK: {
        "save": "1x; 6", "hand in": "1x 2; 6", "hand in the same": f"1x 2; {LONG}", "hand in nothing": REFUSED,
        "withdraw newest": f"1x; {LONG}", "withdraw oldest": f"1x; {LONG}",
    },
    OVER: dict.fromkeys(
        ("save", "hand in", "hand in the same", "hand in nothing", "withdraw newest", "withdraw oldest"), REFUSED
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", TEXTS)
def test_a_text_moves_as_the_table_says(state: str, bob: User, charlie: User) -> None:
    text = Text(bob, charlie).moved_to(state)
    assert tried(text.moves(), text.state, ContestRefused) == TEXTS[state]
