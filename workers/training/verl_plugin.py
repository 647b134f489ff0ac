"""Registration of our estimators with verl. Importable only with verl; docs/learning.md shows how to make verl import it."""

from verl.trainer.ppo.core_algos import register_adv_est  # type: ignore[import-not-found]  # in its own environment

from workers.training.verl_estimators import GROUPED, of_groups, of_rows, of_tokens

register_adv_est("lemmascope_rows")(of_rows)
register_adv_est("lemmascope_tokens")(of_tokens)
for _name, _compare in GROUPED.items():
    register_adv_est(_name)(of_groups(_compare))
