"""Drift of the policy from the policy that wrote its rows: ratios of own tokens, over a logging step."""

from typing import Any

import torch

#: Limit of log-ratios, so that one impossible token leaves the numbers finite.
MOST = 20.0


class Drift:
    """Sums over the micro-batches of this process, kept on the device until they are reported."""

    def __init__(self) -> None:
        self._sums: Any = None
        self._highest: Any = None

    def take(self, logprobs: Any, drawn: Any, own: Any) -> None:
        """Add log-probabilities now and at sampling, (N, T); `own` is 1 where they count."""
        gap = (logprobs.detach() - drawn).float().clamp(-MOST, MOST)
        ratio, counts = gap.exp(), (own > 0).float()
        parts = (torch.ones_like(ratio), ratio, ratio**2, ratio - 1 - gap)
        sums = torch.stack([(part * counts).sum() for part in parts])
        highest = (ratio * counts).max()
        self._sums = sums if self._sums is None else self._sums + sums
        self._highest = highest if self._highest is None else torch.maximum(self._highest, highest)

    def report(self) -> dict[str, float]:
        """Metrics since the last report; empty where there are none.

        `ratio_max`; `ess`, the effective sample size as a share of the tokens; `kl_behaviour` in nats per token (k3).
        """
        sums, highest, self._sums, self._highest = self._sums, self._highest, None, None
        if sums is None or not sums[0].item():
            return {}
        count, total, squares, apart = sums.tolist()
        return {"ratio_max": highest.item(), "ess": total**2 / (count * squares), "kl_behaviour": apart / count}
