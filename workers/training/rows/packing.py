"""Rows without padding: several rows in one sequence, each of which attends to itself alone.

A pack is a sequence of whole rows. Positions begin at 0 in each row, from which transformers makes a block-diagonal mask (or
the lengths of FlashAttention). Without packing, rows of similar length share a micro-batch and are cut to its longest.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

#: Tokens of short rows in one pack, where attention computes the whole square of a pack (SDPA): 512 took the least time on a
#: CPU (benchmarks.learning.packing).
SHORT = 512
#: Share of useful tokens from which rows are side by side instead of in packs, or with more rows.
DENSE = 0.9
#: Attention that computes only within each row, however long the pack.
ONLY_WITHIN_ROWS = ("flash_attention_2", "flash_attention_3", "flex_attention")
Scored = Callable[[Any, Any, Any], Any]


def packs(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Rows of each pack of at most `most` tokens: first fit, longest first. A longer row has a pack of its own."""
    found: list[list[int]] = []
    room: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        place = next((place for place, left in enumerate(room) if lengths[row] <= left), None)
        if place is None:
            found.append([])
            room.append(most)
            place = len(found) - 1
        found[place].append(row)
        room[place] -= lengths[row]
    return found


def cut(lengths: Sequence[int], most: int, *, padded: bool) -> list[list[int]]:
    """Rows of each part of a micro-batch, of at most `most` computed tokens; a longer row is alone.

    With `padded`, each row counts as the longest of its part, and parts have little padding.
    """
    if not padded:
        return packs(lengths, most)
    found: list[list[int]] = []
    needed = 0
    for row in by_length(lengths):
        computed = lengths[row] * (len(found[-1]) + 1) if found else 0
        if found and computed <= most and needed + lengths[row] >= DENSE * computed:
            found[-1].append(row)
            needed += lengths[row]
        else:
            found.append([row])
            needed = lengths[row]
    return found


def by_length(lengths: Sequence[int]) -> list[int]:
    """Order of rows in which neighbours have similar lengths, for micro-batches with little padding."""
    return sorted(range(len(lengths)), key=lambda row: lengths[row])


def balanced(lengths: Sequence[int], parts: int) -> list[int]:
    """Order of rows in which `parts` consecutive pieces have equal numbers of rows and similar numbers of tokens.

    Rows are dealt out from the longest to the shortest, in alternate directions. `parts` divides the number of rows.
    """
    piles: list[list[int]] = [[] for _ in range(parts)]
    for place, row in enumerate(sorted(range(len(lengths)), key=lambda row: -lengths[row])):
        turn, pile = divmod(place, parts)
        piles[pile if turn % 2 == 0 else parts - 1 - pile].append(row)
    return [row for pile in piles for row in pile]


def per_token(ids: Any, mask: Any, keep: int, most: int, scored: Scored) -> Any:
    """Values of the last `keep` columns of padded rows, computed in packs; (N, keep, values), 0 under the mask.

    `ids`, `mask`: (N, L). `scored(ids, positions, kept)` gets one pack, each (1, T), and returns (T, values) for its tokens.
    """
    lengths = mask.sum(dim=1).tolist()
    kept = torch.zeros_like(mask)
    kept[:, mask.shape[1] - keep :] = mask[:, mask.shape[1] - keep :]
    order, parts = [], []
    for rows in packs(lengths, most):
        inside = mask[rows] > 0
        positions = (mask[rows].cumsum(dim=1) - 1)[inside]
        parts.append(scored(ids[rows][inside][None], positions[None], (kept[rows] > 0)[inside][None]))
        order += rows
    values = torch.cat(parts)
    inside = (mask[order] > 0).unsqueeze(-1).expand(*mask.shape, values.shape[-1])
    spread = values.new_zeros(inside.shape).masked_scatter(inside, values)
    back = torch.empty(len(order), dtype=torch.long, device=ids.device)
    back[torch.tensor(order, device=ids.device)] = torch.arange(len(order), device=ids.device)
    return spread[back][:, mask.shape[1] - keep :]


@torch.no_grad()
def may_pack(model: Any) -> bool:
    """Whether two rows in one pack have the logits that each has alone. Models with recurrent layers may mix them."""
    size = model.get_input_embeddings().num_embeddings
    device = model.get_input_embeddings().weight.device
    first, second = (torch.arange(start, start + 7, device=device)[None] * 7919 % size for start in (1, 5))
    positions = torch.arange(7, device=device)[None]
    training = model.training
    model.eval()
    try:
        alone = [model(input_ids=row, position_ids=positions, use_cache=False).logits for row in (first, second)]
        both = model(
            input_ids=torch.cat([first, second], dim=1), position_ids=torch.cat([positions, positions], dim=1), use_cache=False
        ).logits
    finally:
        model.train(training)
    expected = torch.cat(alone, dim=1).float()
    return bool((both.float() - expected).abs().max() <= 1e-2 * expected.abs().max().clamp(min=1e-6))
