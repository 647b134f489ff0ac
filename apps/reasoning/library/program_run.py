"""One run of a program at a caller's address: awaited for its result, or iterated over for its events."""

import asyncio
import contextlib
import functools
import os
import secrets
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import Any, Generic, ParamSpec, TypeVar

from apps.reasoning.domain.errors import BackendError, JournalUnwritable, NeedsFork, PlanError, RunHalted
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import RunFinished
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import GIVEN, Alias
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.journal.file import JournalFile
from apps.reasoning.planning import plan_roles
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.window import Window
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.scaffolds.spec import RunSpec
from apps.reasoning.version import VERSION

from .options import SMALLEST_CONTEXT, CheckedOptions
from .progress import GivenHints, ProgressJournal
from .results import RunResult
from .server import CheckingDispatcher, served_context, without_key

R = TypeVar("R", bound=RunResult)
P = ParamSpec("P")
_MOST_SEED = 2**31
#: What identifies a journal, apart from its roles. It may be resumed with another budget, and by a later version.
_WORDS = {"problem": "another problem", "scaffold": "another program", "params": "other parameters", "seed": "another seed"}


class CallText(Value):
    """The prompt and the answer of a call. `failure` is the reason if there is no answer."""

    role: str
    prompt: str
    text: str
    reasoning: str
    usage: Usage
    failure: str


class ProgramRun(Generic[R]):
    """A run that starts when it is first awaited (for its result) or iterated over (for its events).

    Raises `PlanError` if it cannot run and `RunHalted` if it stops early. A journal file then holds all answers, and the same
    call continues from there; so it does after a cancellation or Ctrl-C.
    """

    def __init__(
        self,
        program: Scaffold,
        problem: ProblemText,
        params: Value,
        options: CheckedOptions,
        result_of: Callable[[ProgressJournal, Outcome, int], R],
        *,
        preset: str = "",
        may_call_functions: bool = True,
    ) -> None:
        self._program = program
        self._problem = problem
        self._params = params
        self._options = options
        self._result_of = result_of
        self._preset = preset
        self._may_call_functions = may_call_functions
        self._journal: ProgressJournal | None = None
        self._result: R | None = None

    @property
    def result(self) -> R:
        """The result, once the run has ended. Raises `RunHalted` before."""
        if self._result is None:
            raise RunHalted("The run has not ended.")
        return self._result

    def call(self, key: str) -> CallText:
        """The texts of a call by its key, as events name it. Raises `KeyError` for one without a record."""
        record = self._journal and next((one for one in self._journal.records if one.key == key), None)
        if not self._journal or not record:
            raise KeyError(key)
        final = record.final
        return CallText(
            role=record.role,
            prompt="".join(self._journal.texts.get(sha, "") for sha in record.prompt_shas),
            text=final.text if final else "",
            reasoning=final.reasoning if final else "",
            usage=record.usage,
            failure=record.failure,
        )

    def __await__(self) -> Generator[Any, None, R]:
        return self._driven(lambda _: None).__await__()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        task = asyncio.create_task(self._driven(queue.put_nowait))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _driven(self, listener: Callable[[Event], None]) -> R:
        if self._journal is not None:
            raise RuntimeError("A run is awaited or iterated over once. Make another one; its journal file may be the same.")
        api_key = _api_key(self._options)
        file = JournalFile(self._options.journal) if self._options.journal else None
        self._journal = journal = ProgressJournal(file, self._with_on_event(listener))
        try:
            spec, alias, is_checked = await self._planned(file, api_key)
            async with _model_server(alias, api_key, is_checked) as dispatcher:
                self._result = await self._played(spec, journal, dispatcher)
        except NeedsFork as error:
            text = f"It was recorded by another version of the program ({str(error).split(':')[0]}). Name another journal."
            raise PlanError("journal", f"{self._options.journal}: {text}") from error
        except JournalUnwritable:
            raise
        except (RunHalted, BackendError) as error:
            kept = f" {journal.spent.calls} answers are kept in {file.path}; repeat the call to continue." if file else ""
            raise RunHalted(f"{error}{kept}") from error
        finally:
            if file is not None:
                file.close()
        return self._result

    def _with_on_event(self, listener: Callable[[Event], None]) -> Callable[[Event], None]:
        on_event = self._options.on_event

        def both(event: Event) -> None:
            listener(event)
            if on_event is not None:
                on_event(event)

        return both

    async def _played(self, spec: RunSpec, journal: ProgressJournal, dispatcher: Dispatcher) -> R:
        controls = GivenHints(self._options.hints, journal.records)
        window = Window(self._options.concurrency)
        context = RunContext(spec, journal, dispatcher, controls, window=window)
        outcome = await self._program.solve(self._problem, context, self._params)
        journal.emit("run/finished", RunFinished(**outcome.model_dump()))
        return self._result_of(journal, outcome, spec.seed)

    async def _planned(self, file: JournalFile | None, api_key: str) -> tuple[RunSpec, Alias, bool]:
        """The specification, the model, and whether its server was asked; a file without a header gets one."""
        header = (file.header if file else None) or {}
        options = self._options
        context = options.context_tokens or header.get("context_tokens")
        if not header:
            try:
                listed = await served_context(options.alias(context or SMALLEST_CONTEXT), api_key)
            except BackendError as error:
                raise without_key(error, api_key) from None
            context = context or listed
        if context is None:
            text = f"{options.base_url}/models does not say how long the context of {options.model} is. "
            text += "Check that the address is right (most end in /v1), or give context_tokens."
            raise PlanError("option", text, "context_tokens")
        alias = options.alias(context)
        spec = self._spec(alias, options.seed if options.seed is not None else header.get("seed"))
        asked = spec.model_dump(mode="json")
        if file is not None and header:
            _same(file, header["spec"], asked)
        elif file is not None:
            file.begin({"context_tokens": context, "seed": spec.seed, "spec": asked})
        return spec, alias, not header

    def _spec(self, alias: Alias, seed: int | None) -> RunSpec:
        options = self._options
        return RunSpec(
            problem=self._problem,
            scaffold=self._program.name,
            preset=self._preset,
            params=self._params.model_dump(mode="json"),
            roles=plan_roles(
                self._program,
                {"": alias},
                deadline_s=options.deadline_s,
                preset=self._preset,
                max_new_tokens=options.max_new_tokens,
                temperature=options.temperature,
                may_call_functions=self._may_call_functions,
            ),
            prompt_hashes=dict(self._program.prompts),
            seed=secrets.randbelow(_MOST_SEED) if seed is None else seed,
            code_version=VERSION,
            budget=options.budget,
        )


def blocking(make: Callable[P, ProgramRun[R]], name: str, doc: str) -> Callable[P, R]:
    """A function that runs what `make` gives in an event loop of its own.

    It raises `RuntimeError` inside a running loop, such as a notebook's.
    """

    @functools.wraps(make)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(_ended(make(*args, **kwargs)))
        raise RuntimeError(f"An event loop is running here (a notebook, say): write `await {make.__name__}(…)`.")

    run.__name__, run.__doc__ = name, doc
    return run


async def _ended(run: ProgramRun[R]) -> R:
    return await run


def _api_key(options: CheckedOptions) -> str:
    """Raises `PlanError` for a variable that is not set."""
    given = options.api_key.get_secret_value()
    if given or not options.api_key_env:
        return given
    if not (found := os.environ.get(options.api_key_env, "")):
        text = f"The environment variable {options.api_key_env} is not set. Set it to the key, or leave api_key_env out."
        raise PlanError("option", text, "api_key_env")
    return found


@contextlib.asynccontextmanager
async def _model_server(alias: Alias, api_key: str, is_checked: bool) -> AsyncIterator[Dispatcher]:
    backend = OpenAIHttpBackend(alias, api_key=api_key)
    try:
        yield CheckingDispatcher(LocalDispatcher({GIVEN: backend}), alias, api_key, is_checked)
    finally:
        await backend.close()


def _same(file: JournalFile, recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raises `PlanError` where the file records another run than the one asked for, and says what differs."""
    before, wanted = dict(recorded) | {"params": _params(recorded)}, dict(asked) | {"params": _params(asked)}
    words = [text for name, text in _WORDS.items() if before.get(name) != wanted[name]]
    then, now = _manners(recorded), _manners(asked)
    if then != now:
        models = sorted({role["revision"] for role in then.values()} - {role["revision"] for role in now.values()})
        words.append(f"another model ({', '.join(models)})" if models else "other limits of answers or other temperatures")
    if words:
        raise PlanError("journal", f"{file.path} records {' and '.join(words)}. Name another journal.")


def _params(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Journals of earlier versions lack `earlier_lemmas`, which is always "none" here."""
    return {name: value for name, value in spec["params"].items() if name != "earlier_lemmas"}


def _manners(spec: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Who plays which role, and how it is asked; a later call may have another deadline."""
    added = ("prompts", "full")  # Journals of earlier versions do not have it.
    return {
        name: {key: value for key, value in role.items() if key != "deadline_s" and (key, value) != added}
        for name, role in spec["roles"].items()
    }
