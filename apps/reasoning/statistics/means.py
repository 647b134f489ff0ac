"""The 95 % interval of a measure, for problems like these: problems are the clusters, repeats lie inside them."""

import numpy as np

from apps.reasoning.statistics.intervals import Interval, Undefined, student_t, studentised, too_few
from apps.reasoning.statistics.metrics import Measure

#: Intervals count one more problem, which is off by this share: few problems may not show the rare ones that differ.
UNSEEN = 0.5


def interval(measure: Measure) -> Interval | Undefined:
    """Of a share: Agresti and Coull's with an effective number of trials. Of an amount: studentised on the logarithm.

    The effective number n = p(1 − p) / s² is the number of independent trials with the observed error s between problems and
    that of `UNSEEN`. It is kept between the number of problems and the number of trials; where all problems have the same
    value, it is the number of problems. So p = 0 and p = 1 have an interval too. Student's t has one degree of freedom less
    than problems. Undefined below five problems. Sources: Agresti and Coull, American Statistician 52 (1998) 119–126; for
    clusters, Dean and Pagano, Journal of Survey Statistics and Methodology 3 (2015) 484–503.
    """
    counted = measure.weights > 0
    problems = int(counted.sum())
    if why := too_few(problems):
        return why
    values, weights, total = measure.values[counted], measure.weights[counted], measure.weights.sum()
    if not measure.is_share:
        return studentised(measure.value, (total * measure.value - weights * values) / (total - weights), "size")
    parts, share = weights / total, measure.value
    error = problems / (problems - 1) * float((parts**2 * (values - share) ** 2).sum())
    least, most = 1 / (parts**2).sum(), 1 / (parts**2 / measure.trials[counted]).sum()
    trials = float(np.clip(share * (1 - share) / (error + unseen(problems)), least, most)) if error > 0 else float(least)
    return agresti_coull(share, trials, problems - 1)


def unseen(problems: int) -> float:
    """Square of the error of a mean over this many problems by one more that is off by `UNSEEN`."""
    return (UNSEEN / (problems + 1)) ** 2


def agresti_coull(share: float, trials: float, freedom: int) -> Interval:
    """Interval of a share from 0 to 1 with this effective number of trials, by Student's t."""
    square = student_t(freedom) ** 2
    middle = (trials * share + square / 2) / (trials + square)
    reach = np.sqrt(square * middle * (1 - middle) / (trials + square))
    return Interval(low=max(0.0, float(middle - reach)), high=min(1.0, float(middle + reach)))
