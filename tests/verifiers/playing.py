"""Runs in verifiers' environment: play cases with its own client, one after another, and print the episodes as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from lemmascope_verifiers import load_environment


async def played(base_url: str, case: dict[str, Any]) -> list[dict[str, Any]]:
    """The episodes of a case, or why there is no environment."""
    try:
        env = load_environment(**case["options"])
        env = vf.load_environment(vf.resolve_env_config(env.config.model_dump(mode="json")))  # As an env server gets it.
        tasks = list(env.taskset)
    except ValueError as error:
        return [{"refused": str(error)}]
    env.config.agent.max_turns = case.get("max_turns")
    env.config.agent.timeout.rollout = case.get("seconds")
    ctx = vf.ModelContext(model=case["model"], client=vf.EvalClientConfig(base_url=base_url))
    async with env.serving():
        episodes = [await env.run_slot(slot, ctx) for task in tasks for slot in env.slots(task)]
    records = [json.loads(json.dumps(episode.to_record())) for episode in episodes]
    for record in records:  # As prime-rl reads them, in a process without our package.
        vf.WireEpisode.model_validate(record)
    return records


async def main() -> None:
    """The cases of a file, by name."""
    cases = json.loads(Path(sys.argv[2]).read_text())
    json.dump({name: await played(sys.argv[1], case) for name, case in cases.items()}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
