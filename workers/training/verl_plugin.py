"""Registers our estimators with verl. Importable only where verl is; see docs/learning.md for how verl is told to import it."""

from verl.trainer.ppo.core_algos import register_adv_est  # type: ignore[import-not-found]  # in an environment of its own

from workers.training.verl_estimators import GROUPED, of_groups, of_rows, of_tokens

register_adv_est("lemmascope_rows")(of_rows)
register_adv_est("lemmascope_tokens")(of_tokens)
for _name, _compare in GROUPED.items():
    register_adv_est(_name)(of_groups(_compare))
