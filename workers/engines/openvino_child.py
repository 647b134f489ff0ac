"""The engine process: OpenVINO GenAI with continuous batching, one thread, JSON lines on standard input and output.

It is a separate process because `ContinuousBatchingPipeline.step` holds the GIL for the whole step (10 to 160 ms). In the
worker that would stop the event loop, the heartbeat and every task thread. A crash of the engine does not end the worker. The
process ends when its standard input closes, so it never outlives its worker.

In:  `{"add": id, "messages", "tools", "max", "temperature", "top_p", "stop", "schema", "regex", "ending", "seed", "read"}`,
`{"cancel": id}`, `{"readers": {id: whether its run is watched}}`.
Out: `{"ready": …}` or `{"failed": sentence}` once; then per flush `{"n": {id: prompt tokens}, "d": {id: [text, tokens]},
"f": {id: [reason, completion tokens]}, "e": {id: [kind, sentence]}}`; empty parts are left out.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any

import openvino_genai as genai
from openvino_genai import py_openvino_genai as native

from workers.engines.detokenize import TextStream, TokenTable
from workers.readers import UNWATCHED_S

FLUSH_S = 0.03
_STATUS = native.GenerationStatus
_LENGTH = native.GenerationFinishReason.LENGTH


class _Call:
    __slots__ = ("handle", "has_schema", "is_read", "pending", "pending_tokens", "reason", "sent_at", "stream", "tokens")

    def __init__(self, handle: Any, stream: TextStream, *, has_schema: bool, is_read: bool) -> None:
        self.handle = handle
        self.has_schema = has_schema
        self.is_read = is_read
        self.sent_at = float("-inf")  # The first piece is sent at once: it ends the wait for the first token.
        self.stream = stream
        self.reason = "stop"
        self.tokens = 0
        self.pending = ""
        self.pending_tokens = 0


class Engine:
    """The pipeline and its calls. `step` runs one engine step; `outbox` collects the news for the worker."""

    def __init__(self, options: dict[str, Any]) -> None:
        scheduler = genai.SchedulerConfig()
        scheduler.max_num_seqs = options["concurrency"]
        scheduler.cache_size = options["cache_gb"]
        scheduler.max_num_batched_tokens = options["max_batched_tokens"]
        scheduler.enable_prefix_caching = options["prefix_caching"]
        scheduler.dynamic_split_fuse = True
        properties = {"INFERENCE_NUM_THREADS": options["threads"]} if options["threads"] else {}
        self._pipeline = genai.ContinuousBatchingPipeline(options["path"], scheduler, options["device"], properties)
        self._tokenizer = self._pipeline.get_tokenizer()
        vocabulary: dict[bytes, int] = self._tokenizer.get_vocab()
        defaults = self._pipeline.get_config()
        self._stop_ids = set(defaults.stop_token_ids) | {self._tokenizer.get_eos_token_id()}
        self._special = {piece for piece in vocabulary if piece.startswith(b"<|") and piece.endswith(b"|>")}
        self._signs = self._special | {piece for piece in (b"<tool_call>", b"</tool_call>") if piece in vocabulary}
        special_ids = {vocabulary[piece] for piece in self._special} | self._stop_ids
        self._table = TokenTable(vocabulary, special_ids)
        self._context: int = options["context_tokens"]
        self._calls: dict[int, _Call] = {}
        self.outbox: dict[str, dict[int, Any]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._calls)

    def take(self, message: dict[str, Any]) -> None:
        if "cancel" in message:
            call = self._calls.get(message["cancel"])
            if call is not None:
                call.handle.cancel()
                self._finish(message["cancel"], call, "cancelled")
            return
        if "readers" in message:
            for name, is_read in message["readers"].items():
                if (call := self._calls.get(int(name))) is not None:
                    call.is_read = is_read
            return
        number: int = message["add"]
        try:
            self._add(number, message)
        except Exception as error:  # The engine's own errors have no common class; a refused call must not end the process.
            self._report("e", number, ["rejected", f"The engine rejected the request: {_last_line(error)}"])

    def _add(self, number: int, message: dict[str, Any]) -> None:
        plain, tools = self._plain(message["messages"]), message["tools"] or None
        prompt = self._tokenizer.apply_chat_template(plain, add_generation_prompt=True, tools=tools)
        tokens = self._tokenizer.encode(prompt, add_special_tokens=False).input_ids
        size = tokens.shape[1]
        if size >= self._context:
            held = f"the model's context holds {self._context}"
            sentence = f"The prompt has {size} tokens; {held}. Shorten it, or choose a model with a longer context."
            self._report("e", number, ["rejected", sentence])
            return
        limit = min(message["max"], self._context - size)
        config = self._config(message, limit)
        handle = self._pipeline.add_request(number, tokens, config)
        stream = TextStream(self._table, message["stop"])
        has_form = bool(message["schema"] or message["ending"])
        self._calls[number] = _Call(handle, stream, has_schema=has_form, is_read=message["read"])
        self._report("n", number, size)

    def _plain(self, messages: list[dict[str, str]]) -> list[dict[str, str]]:
        """Break control tokens in a text by a space, so that they cannot end a message or begin another role."""
        plain = []
        for message in messages:
            content = message["content"]
            if "<" in content:
                for token in map(bytes.decode, self._signs):
                    content = content.replace(token, f"< {token[1:]}")
            plain.append({"role": message["role"], "content": content})
        return plain

    def _config(self, message: dict[str, Any], limit: int) -> Any:
        config = genai.GenerationConfig()
        config.max_new_tokens = limit
        config.apply_chat_template = False
        config.eos_token_id = self._tokenizer.get_eos_token_id()
        config.stop_token_ids = self._stop_ids
        config.rng_seed = message["seed"] % 2**31
        if message["temperature"] > 0:
            config.do_sample = True
            config.temperature = message["temperature"]
            config.top_p = message["top_p"]
        else:
            config.do_sample = False
        if message["regex"]:
            config.structured_output_config = genai.StructuredOutputConfig(regex=message["regex"])
        elif message["schema"]:
            config.structured_output_config = genai.StructuredOutputConfig(json_schema=message["schema"])
        elif message["ending"]:
            config.structured_output_config = genai.StructuredOutputConfig(structural_tags_config=_ending(*message["ending"]))
        config.validate()
        return config

    def step(self) -> None:
        try:
            self._pipeline.step()
        except RuntimeError as error:
            self._reject_schemas(error)
            raise
        ended: list[tuple[int, str]] = []
        for number, call in self._calls.items():
            handle = call.handle
            while handle.can_read():
                for output in handle.read().values():
                    ids = output.generated_ids
                    call.tokens += len(ids)
                    call.pending_tokens += len(ids)
                    call.pending += call.stream.push(ids)
                    if output.finish_reason == _LENGTH:
                        call.reason = "length"
            if call.stream.stopped:
                handle.cancel()
                ended.append((number, "stop"))
            elif handle.get_status() != _STATUS.RUNNING:
                ended.append((number, "ignored" if handle.get_status() == _STATUS.IGNORED else call.reason))
        for number, reason in ended:
            self._finish(number, self._calls[number], reason)

    def _reject_schemas(self, error: RuntimeError) -> None:
        """Reject the calls whose JSON schema the engine has just read, so that they do not end the next engine too.

        The engine reads a schema in the first step of its call. A schema it cannot read fails the step and the pipeline; all
        other calls are lost.
        """
        for number, call in self._calls.items():
            if call.has_schema and not call.tokens:
                self._report("e", number, ["rejected", f"The engine cannot follow this JSON schema: {_last_line(error)}"])

    def _finish(self, number: int, call: _Call, reason: str) -> None:
        call.pending += call.stream.close()
        del self._calls[number]
        if call.pending or call.pending_tokens:
            self._report("d", number, [call.pending, call.pending_tokens])
        if reason == "ignored":
            sentence = "The prompt does not fit the engine's memory. Shorten it or raise options.cache_gb in models.toml."
            self._report("e", number, ["rejected", sentence])
        else:
            self._report("f", number, [reason, call.tokens])

    def collect(self) -> dict[str, dict[int, Any]]:
        """The news to send now. Pieces of unwatched runs are sent every `UNWATCHED_S`."""
        now = time.monotonic()
        for number, call in self._calls.items():
            if call.pending_tokens and (call.is_read or now - call.sent_at >= UNWATCHED_S):
                call.sent_at = now
                self._report("d", number, [call.pending, call.pending_tokens])
                call.pending, call.pending_tokens = "", 0
        news, self.outbox = self.outbox, {}
        return news

    def _report(self, part: str, number: int, what: Any) -> None:
        self.outbox.setdefault(part, {})[number] = what


def _ending(opening: str, pattern: str, end: str) -> Any:
    """A grammar: free text; after `opening` only the pattern and `end`, and then the answer ends."""
    forms = genai.StructuredOutputConfig
    tag = forms.Tag(begin=opening, content=forms.Regex(pattern), end=end)
    return forms.TriggeredTags(triggers=[opening], tags=[tag], at_least_one=False, stop_after_first=True)


def _last_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


class _Pipe:
    """JSON lines on a pair of file descriptors."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._rest = b""

    def take(self, wait_s: float | None) -> list[dict[str, Any]] | None:
        """The received messages. Waits up to `wait_s` (None: for ever) for the first. None at the end of input."""
        messages: list[dict[str, Any]] = []
        while select.select([self._reading], [], [], 0 if messages else wait_s)[0]:
            data = os.read(self._reading, 1 << 20)
            if not data:
                return None
            *lines, self._rest = (self._rest + data).split(b"\n")
            messages += [json.loads(line) for line in lines]
        return messages

    def send(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        while data:
            data = data[os.write(self._writing, data) :]


def serve(pipe: _Pipe, engine: Engine) -> None:
    """Step while there are calls, wait while there are none, return at the end of input."""
    flushed = 0.0
    while True:
        messages = pipe.take(0 if engine.busy else None)
        if messages is None:
            return
        for message in messages:
            engine.take(message)
        if engine.busy:
            engine.step()
        now = time.monotonic()
        if "f" in engine.outbox or "e" in engine.outbox or "n" in engine.outbox or now - flushed >= FLUSH_S:
            flushed = now
            news = engine.collect()
            if news:
                pipe.send(news)


def _exit_with_worker() -> None:
    """Ask Linux to kill this process with its worker: during a hanging step, closed input alone would not end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def main() -> None:
    """Run the engine. The worker passes the options as JSON in the first argument."""
    _exit_with_worker()
    writing = os.dup(1)
    os.dup2(2, 1)  # Keep the engine library's own output out of our lines.
    pipe = _Pipe(0, writing)
    try:
        engine = Engine(json.loads(sys.argv[1]))
    except Exception as error:  # Any error: the worker needs one sentence, not a trace in a log.
        pipe.send({"failed": f"The model cannot be loaded: {_last_line(error)}"})
        return
    pipe.send({"ready": genai.get_version()})
    try:
        serve(pipe, engine)
    except BrokenPipeError:
        return  # The worker is gone.
    except RuntimeError:
        pipe.send(engine.outbox)
        raise


if __name__ == "__main__":
    main()
