"""A language model below a million parameters with a character tokenizer, both created in memory, for tests and toys."""

from typing import Any

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz+-=?!:;. "
MOST_TOKENS = 128


def tiny_tokenizer() -> Any:
    """Tokenizer with one token per character, so that a toy's tokens are its characters."""
    vocabulary = {sign: number for number, sign in enumerate((*SPECIAL, *CHARACTERS))}
    tokenizer = Tokenizer(WordLevel(vocabulary, SPECIAL[3]))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.decoder = Fuse()
    return wrapped(tokenizer, MOST_TOKENS)


def wrapped(tokenizer: Tokenizer, longest: int, **more: Any) -> Any:
    """A tokenizer with our special tokens, for texts of `longest` tokens, in the class of transformers."""
    pad, begin, end, unknown = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        bos_token=begin,
        eos_token=end,
        unk_token=unknown,
        padding_side="left",
        model_max_length=longest,
        **more,
    )


def tiny_model(
    *,
    seed: int = 0,
    hidden: int = 128,
    layers: int = 2,
    heads: int = 4,
    vocabulary: int = len(SPECIAL) + len(CHARACTERS),
    longest: int = MOST_TOKENS,
) -> Any:
    """A Llama of about 440,000 parameters with seeded random weights; the process's random state does not change."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=longest,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
