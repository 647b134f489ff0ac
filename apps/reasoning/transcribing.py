"""Read a page with a model that takes pictures: one call a page. The page's author corrects the text.

The model gets the picture as redrawn on upload, and neither the problem nor any solution: it is to copy, not to solve.
"""

import base64
import logging
from dataclasses import dataclass

from apps.reasoning.domain.errors import BackendError, PromptError
from apps.reasoning.domain.generation import PICTURE_BYTES, GenerationRequest, Picture, Sampling, Usage
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Dispatcher
from apps.reasoning.prompts.loader import load, render
from apps.reasoning.reading.answers import closing_match, tag_pattern, whole_answer
from apps.reasoning.reading.foreign import clean_text

logger = logging.getLogger(__name__)
READER = "transcribing/reader"
UNREACHED = "The model that reads pages could not be asked."
LENGTH_AT_MOST = 20_000

_TEXT, _UNREADABLE = tag_pattern("transcription"), tag_pattern("unreadable")


class PageRead(Value):
    """What a model read on a page, with what the call cost and which weights answered."""

    text: str
    usage: Usage
    revision: str


class PageUnread(Exception):
    """Nothing was read; the message says why, for the page's author."""


@dataclass(frozen=True)
class PageReader:
    """Asks `alias` through a dispatcher. `tokens`: the most that it may write."""

    dispatcher: Dispatcher
    run: str
    alias: str
    tokens: int = 4_096
    deadline_s: float = 300.0

    async def read(self, jpeg: bytes, *, number: int, count: int) -> PageRead:
        """Page `number` of `count`. Raises `PageUnread`."""
        if len(jpeg) > PICTURE_BYTES:
            raise PageUnread(
                f"The picture of this page has more than {PICTURE_BYTES // 1024**2} MB and is not sent to a model."
            )
        try:
            request = GenerationRequest(
                run=self.run,
                key="page",
                role="reader",
                alias=self.alias,
                messages=render(load(READER), {"number": str(number), "count": str(count)}).messages,
                pictures=(Picture(media="image/jpeg", data=base64.b64encode(jpeg).decode()),),
                sampling=Sampling(temperature=0.0, top_p=1.0, max_new_tokens=self.tokens),
                deadline_s=self.deadline_s,
                priority=3,
            )
            final = await self.dispatcher.dispatch(request)
        except (BackendError, PromptError) as error:
            # The error may name addresses and files of the server, which are of no use to an author.
            logger.warning("a page could not be read by %s: %s", self.alias, error)
            raise PageUnread(UNREACHED) from error
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            raise PageUnread(f"What the model wrote cannot be used: {answer.reason}.")
        return PageRead(text=_text_of(answer), usage=final.usage, revision=final.model_revision)


def _text_of(answer: str) -> str:
    """The transcription in an answer. Raises `PageUnread`."""
    if not isinstance(refused := closing_match(answer, _UNREADABLE, what="transcription"), Unscored):
        raise PageUnread(f"The model could read nothing: {refused.group(1).strip()[:300]}")
    match = closing_match(answer, _TEXT, what="transcription")
    if isinstance(match, Unscored):
        raise PageUnread(f"What the model wrote cannot be used: {match.reason}.")
    text = clean_text(match.group(1)).strip()
    if not text:
        raise PageUnread("The model found no writing on this page.")
    if len(text) > LENGTH_AT_MOST:
        raise PageUnread(f"The model wrote more than {LENGTH_AT_MOST:,} characters, which no page holds.")
    return text
