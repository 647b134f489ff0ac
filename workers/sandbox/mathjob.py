"""The computational verifier as code for the sandbox. The job contains its modules, because the project is not visible inside.

A warm process has imported and exercised them before it dropped its rights; a bare process imports them with the job.
"""

import base64
import functools
import importlib.util
import marshal
from pathlib import Path

from pydantic import ValidationError

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.tools import MathJob

_FOLDER = Path(__file__).resolve().parents[2] / "apps/mathcheck"
_PACKAGE = "apps.mathcheck"
#: The sandbox's limits on one job, in seconds: a last resort, far beyond what the limits on work allow.
WALL_S, CPU_S = 240.0, 200.0

_IMPORTER = """
import base64, importlib.abc, importlib.util, marshal, sys
class _Sent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, magic, modules):
        self.magic, self.modules = magic, modules
    def find_spec(self, name, path=None, target=None):
        if name not in self.modules:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=self.modules[name][0])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        _, made, source = self.modules[module.__name__]
        same = importlib.util.MAGIC_NUMBER.hex() == self.magic
        exec(marshal.loads(base64.b64decode(made)) if same else compile(source, module.__name__, "exec"), module.__dict__)
if "apps.mathcheck.__main__" not in sys.modules:
    sys.meta_path.insert(0, _Sent({magic!r}, {modules!r}))
    import apps.mathcheck.__main__
"""


@functools.cache
def importer() -> str:
    """Code that makes `apps.mathcheck` importable inside, and imports it."""
    modules: dict[str, tuple[bool, str, str]] = {"apps": (True, _compiled("", "apps"), "")}
    for path in sorted(_FOLDER.rglob("*.py")):
        if path.parent.name == "kernel":  # No proof assistant runs in the sandbox.
            continue
        is_package = path.stem == "__init__"
        name = ".".join([_PACKAGE, *path.relative_to(_FOLDER).with_suffix("").parts]).removesuffix(".__init__")
        source = path.read_text(encoding="utf-8")
        modules[name] = (is_package, _compiled(source, name), source)
    return _IMPORTER.replace("{magic!r}", repr(importlib.util.MAGIC_NUMBER.hex())).replace("{modules!r}", repr(modules))


def exercise() -> str:
    """Code for warming up a process: import the verifier and fill SymPy's caches."""
    return f"{importer()}\nfrom apps.mathcheck.checking import warm\nwarm()\n"


def code_of(content: str) -> str:
    """The code of a `check_math` job. Raises `RequestRejected`."""
    try:
        job = MathJob.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the job"
        raise RequestRejected(
            f"The check_math job is malformed ({where}: {first['msg']}); see docs/tools.md for its shape."
        ) from None
    if not job.texts:
        raise RequestRejected("A check_math job needs at least one text.")
    plain = job.model_dump_json()
    return (
        f"{importer()}\nimport json\nfrom apps.mathcheck.__main__ import findings_of\n"
        f"print(json.dumps(findings_of(json.loads({plain!r}))))\n"
    )


def _compiled(source: str, name: str) -> str:
    return base64.b64encode(marshal.dumps(compile(source, name, "exec", dont_inherit=True))).decode()
