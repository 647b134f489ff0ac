"""How an engine of vLLM gets other weights while it runs: LoRA adapters, or whole weights that a training job writes."""
