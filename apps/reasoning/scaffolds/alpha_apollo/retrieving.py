"""Documentation lookup: rewrite the question, search, summarise the hits.

Source: AlphaApollo App. B.2. With `assistants` models rewrite and summarise; fixed rules do it without them, or if a model's
answer is unreadable. Lemmas of earlier runs are searched with the question as written and shown word for word.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.reasoning.domain.agent_events import Lookup
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.tools import SearchHit, SearchJob, read_hits
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.turns.actions import LEMMAS, LIBRARIES, LONGEST_QUERY, THEOREMS
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from apps.reasoning.scaffolds.alpha_apollo.tags import held
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.asking import asked
from apps.reasoning.scaffolds.running.turns import MOST_SHOWN, cut

PASSAGES = 4
_MOST_OF_A_PASSAGE = 900
_FORMULA = re.compile(r"\$[^$]*\$|\S*\d\S*")


@dataclass(frozen=True)
class Found:
    """The result of a lookup: `text` for the model, `lookup` for people."""

    text: str
    lookup: Lookup
    failure: str = ""


async def looked_up(desk: Desk, params: Params, key: str, library: str, query: str, place: Place) -> Found:
    """Look up a question. The text says if the search is unavailable or finds nothing."""
    has_assistants = params.assistants and library != LEMMAS
    calls = [f"{key}/rewrite"] if has_assistants else []
    if library == LEMMAS:
        rewritten, job = query, SearchJob(query=query, library=library, top=PASSAGES, scope=params.earlier_lemmas)
    else:
        rewritten = await _rewritten(desk, key, library, query, place) if has_assistants else plain_query(query)
        job = SearchJob(query=rewritten, library=library, top=PASSAGES)
    answer = await desk.ctx.tool(f"{key}/search", job="search", content=job.model_dump_json(), place=place)
    hits = read_hits(answer)
    calls.append(f"{key}/search")

    def lookup(hits: Sequence[SearchHit] = ()) -> Lookup:
        return Lookup(
            library=library,
            query=query,
            rewritten=rewritten,
            sources=tuple(hit.name for hit in hits),
            calls=tuple(calls),
            lemmas=tuple(hit.origin for hit in hits if hit.origin),
        )

    if isinstance(hits, Unscored):
        why = cut(hits.reason, 400)
        return Found(f"Nothing was looked up: {why} Continue without it.", lookup(), failure=why)
    if not hits:
        return Found(f"Nothing was found for “{rewritten}”.", lookup())
    passages = shown(hits)
    text = passages
    if has_assistants:
        calls.append(f"{key}/summarise")
        text = await _summarised(desk, key, query, passages, place) or passages
    return Found(cut(text, MOST_SHOWN), lookup(hits))


def plain_query(query: str) -> str:
    """The question without formulas and numbers, which documentation lacks; the whole question if nothing remains."""
    words = " ".join(_FORMULA.sub(" ", query).split())
    return (words if re.search(r"\w{3}", words) else query)[:LONGEST_QUERY]


def shown(hits: Sequence[SearchHit]) -> str:
    """Passages as shown to a model; a lemma has its verdict."""
    return "\n\n".join(f"{hit.name}{hit.signature} [{_kind(hit)}]\n{cut(hit.text, _MOST_OF_A_PASSAGE)}" for hit in hits)


def _kind(hit: SearchHit) -> str:
    return f"{hit.library}; {hit.origin.verdict}" if hit.origin else hit.library


async def _rewritten(desk: Desk, key: str, library: str, query: str, place: Place) -> str:
    values = {"query": desk.content(query), "library": library or "any of them", "libraries": ", ".join((*LIBRARIES, THEOREMS))}
    call = f"{key}/rewrite"
    prompt = desk.filled("rewriter", "alpha_apollo/rewriter", values)
    final = await asked(desk.ctx, call, role="rewriter", prompt=prompt, place=place)
    return " ".join(held(desk, call, "rewriter", final, "query", prompt.text).split())[:LONGEST_QUERY] or plain_query(query)


async def _summarised(desk: Desk, key: str, query: str, passages: str, place: Place) -> str:
    values = {"query": desk.content(query), "passages": desk.content(passages)}
    call = f"{key}/summarise"
    prompt = desk.filled("librarian", "alpha_apollo/librarian", values)
    final = await asked(desk.ctx, call, role="librarian", prompt=prompt, place=place)
    return held(desk, call, "librarian", final, "summary", prompt.text)
