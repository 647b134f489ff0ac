"""Runs in verifiers' environment: a rollout with its training client, which tokenises and keeps what was drawn.

The engine is a stand-in for vLLM's `/inference/v1/generate`, and the tokenizer has one token for each byte.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import verifiers.v1 as vf
from aiohttp import web
from lemmascope_verifiers import load_environment
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
LOGPROB = -0.25


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of bytes, without a download."""
    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    plain = Tokenizer(models.BPE(vocab={**letters, "<eos>": len(letters)}, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<eos>", chat_template=TEMPLATE)


def engine(tokenizer: PreTrainedTokenizerFast, answers: dict[str, str]) -> web.Application:
    """Answers by the beginning of the system prompt."""

    async def generate(request: web.Request) -> web.Response:
        prompt = tokenizer.decode((await request.json())["token_ids"])
        text = next(text for opening, text in answers.items() if opening in prompt)
        ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
        content = [{"token": f"token_id:{one}", "logprob": LOGPROB} for one in ids]
        choice = {"index": 0, "token_ids": ids, "logprobs": {"content": content}, "finish_reason": "stop"}
        return web.json_response({"request_id": "r", "choices": [choice]})

    async def listed(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "policy", "max_model_len": 40_000}]})

    app = web.Application()
    app.add_routes([web.post("/inference/v1/generate", generate), web.get("/v1/models", listed)])
    return app


async def main() -> None:
    """One rollout, as JSON: of each step its role, and of its tokens what counts as drawn."""
    options = json.loads(sys.argv[1])
    answers = options.pop("answers")
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer()
        tokenizer.save_pretrained(folder)
        runner = web.AppRunner(engine(tokenizer, answers))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        client = vf.TrainClientConfig(base_url=f"http://127.0.0.1:{port}/v1", renderer_model_name=str(Path(folder)))
        env = load_environment(**options)
        async with env.serving():
            (slot,) = env.slots(next(iter(env.taskset)))
            episode = await env.run_slot(slot, vf.ModelContext(model="policy", client=client))
        await runner.cleanup()
    (trace,) = episode.traces
    nodes = trace.nodes
    steps = [
        {
            "role": step["role"],
            "trained": step["trained"],
            "text": nodes[step["node"]].message.content,
            "tokens": len(nodes[step["node"]].token_ids),
            "drawn": sum(nodes[step["node"]].mask),
            "logprobs": sorted(set(nodes[step["node"]].logprobs)),
        }
        for step in trace.info["lemmascope"]["steps"]
    ]
    branches = [[len(one.token_ids), sum(one.sampled_mask), sum(one.logprobs)] for one in trace.branches]
    found = {"ok": episode.ok, "reward": trace.reward, "errors": str(trace.errors)}
    json.dump(found | {"steps": steps, "branches": branches}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
