"""Models of random weights for the checks: nothing is downloaded. The tokenizer has 48 characters."""

import json
from pathlib import Path
from typing import Any

#: hidden, layers, heads. The first has 300 million parameters, the second 40,000.
LARGE, SMALL = (1024, 24, 16), (32, 1, 2)
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


def make_model(folder: Path, device: str, context: int) -> Path:
    """Write a Llama with room for `context` tokens to `folder`, a small one for the CPU. Returns the folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from workers.training.tiny import tiny_tokenizer

    if (folder / "config.json").exists():
        return folder
    hidden, layers, heads = SMALL if device == "cpu" else LARGE
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template, tokenizer.model_max_length = TEMPLATE, context
    shape: dict[str, Any] = {"hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers}
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            **shape,
            num_attention_heads=heads,
            num_key_value_heads=max(1, heads // 4),
            vocab_size=64,
            max_position_embeddings=context,
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_adapter(folder: Path, model: Path, seed: int) -> Path:
    """Write a LoRA adapter of random weights for the queries of all layers. Returns its folder."""
    import torch
    from safetensors.torch import save_file

    shape = json.loads((model / "config.json").read_text())
    rank, random = 8, torch.Generator().manual_seed(seed)
    weights = {}
    for layer in range(shape["num_hidden_layers"]):
        place = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{place}.lora_A.weight"] = torch.randn(rank, shape["hidden_size"], generator=random) * 0.2
        weights[f"{place}.lora_B.weight"] = torch.randn(shape["hidden_size"], rank, generator=random) * 0.2
    folder.mkdir(parents=True)
    save_file(weights, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder
