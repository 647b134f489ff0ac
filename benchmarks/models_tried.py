"""`python -m benchmarks.models_tried`: try SmolLM2 and optionally Qwen2.5-Coder-1.5B, and write docs/models_tried.md.

`--qwen FILE` names the GGUF file of Qwen2.5-Coder-1.5B. The stack runs in a temporary folder; `--folder` keeps it, with all
answers.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.stage import free_port
from benchmarks.startup import ROOT, WITHIN_S, shows_a_page

TARGET = ROOT / "docs" / "models_tried.md"
QWEN = """
[qwen-coder]
backend = "openvino"
title = "Qwen2.5-Coder 1.5B"
model = "{file}"
revision = "Qwen2.5-Coder-1.5B-Instruct Q4_K_M"
context_tokens = 8192
concurrency = 16
[qwen-coder.options]
device = "CPU"
cache_gb = 2
max_batched_tokens = 512
prefix_caching = true
"""
HEAD = """# Models that were tried

`make try-models` writes this page (with `QWEN=FILE` for Qwen2.5-Coder-1.5B). [Try a model before you use it](trying_models.md)
explains the columns. Each rate applies to one revision, to our prompts on that day, and to at most {limit} new tokens a call.
Models of this size prove little; the trial measures whether the programs can read their answers.
"""


def main() -> None:
    """Try each model, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qwen", type=Path)
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--qwen-problems", type=int, default=2)
    parser.add_argument("--max-new-tokens", type=int, default=500)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="lemmascope-tried-"))
    folder.mkdir(parents=True, exist_ok=True)
    models = (ROOT / "apps" / "config" / "models.toml").read_text() + (QWEN.format(file=given.qwen) if given.qwen else "")
    (folder / "models.toml").write_text(models)
    port = free_port()
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    env |= {"DATA_DIR": str(folder / "data"), "MODELS_FILE": str(folder / "models.toml"), "PORT": str(port)}
    tables = []
    with (folder / "up.log").open("ab") as log:
        stack = subprocess.Popen([sys.executable, "manage.py", "up"], cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            _wait(stack, port, folder)
            tables.append(_tried("smollm2", given.problems, given.max_new_tokens, folder, env))
            if given.qwen:
                tables.append(_tried("qwen-coder", given.qwen_problems, given.max_new_tokens, folder, env))
        finally:
            stack.send_signal(signal.SIGINT)
            stack.wait(timeout=120)
    TARGET.write_text("\n\n".join([HEAD.format(limit=given.max_new_tokens).strip(), *tables]) + "\n")
    print(f"Wrote {TARGET}. The answers are in {folder}.")


def _wait(stack: "subprocess.Popen[bytes]", port: int, folder: Path) -> None:
    began = time.monotonic()
    while not shows_a_page(port):
        if stack.poll() is not None or time.monotonic() - began > WITHIN_S:
            raise SystemExit(f"`manage.py up` did not start. See {folder / 'up.log'}.")
        time.sleep(0.2)


def _tried(alias: str, problems: int, limit: int, folder: Path, env: dict[str, str]) -> str:
    """Try one model. Returns its table under a heading."""
    command = [sys.executable, "manage.py", "try_model", alias]
    asked = ["--problems", str(problems), "--max-new-tokens", str(limit)]
    subprocess.run([*command, *asked, "--answers", str(folder / f"{alias}.jsonl")], cwd=ROOT, env=env, check=True)
    done = subprocess.run([*command, "--report"], cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return f"## {alias}\n\n{done.stdout.strip()}"


if __name__ == "__main__":
    main()
