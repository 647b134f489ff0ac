from django.apps import AppConfig


class LearningConfig(AppConfig):
    name = "apps.learning"

    def ready(self) -> None:
        """Let rewards share the capacity of gradings."""
        from apps.learning.rollouts.reward_room import jobs_that_want_rewards, rewards_under_way
        from apps.processes.capacity import GRADINGS

        GRADINGS.join("rewards", parties=jobs_that_want_rewards, under_way=rewards_under_way)
