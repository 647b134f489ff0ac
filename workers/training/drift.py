"""How far the policy has gone from what wrote the rows it learns from: ratios of its own tokens, over a logging step."""

from typing import Any

import torch

#: Log-ratios beyond this are cut, so that one impossible token leaves the numbers finite.
MOST = 20.0


class Drift:
    """Sums over the micro-batches of this process; they stay on the device until they are told."""

    def __init__(self) -> None:
        self._sums: Any = None
        self._highest: Any = None

    def take(self, logprobs: Any, drawn: Any, own: Any) -> None:
        """Log-probabilities now and when it was drawn, (N, T); `own` is 1 where they count."""
        gap = (logprobs.detach() - drawn).float().clamp(-MOST, MOST)
        ratio, counts = gap.exp(), (own > 0).float()
        parts = (torch.ones_like(ratio), ratio, ratio**2, ratio - 1 - gap)
        sums = torch.stack([(part * counts).sum() for part in parts])
        highest = (ratio * counts).max()
        self._sums = sums if self._sums is None else self._sums + sums
        self._highest = highest if self._highest is None else torch.maximum(self._highest, highest)

    def told(self) -> dict[str, float]:
        """`ratio_max`; `ess`, the effective sample size as a share of the tokens; `kl_behaviour` in nats a token (k3). Empty
        where nothing was taken since it was told last."""
        sums, highest, self._sums, self._highest = self._sums, self._highest, None, None
        if sums is None or not sums[0].item():
            return {}
        count, total, squares, apart = sums.tolist()
        return {"ratio_max": highest.item(), "ess": total**2 / (count * squares), "kl_behaviour": apart / count}
