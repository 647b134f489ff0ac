"""Permitted code in the sandbox and the report of its result."""

import pytest

from workers.sandbox.execution import Execution
from workers.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _done(sandbox: Sandbox, code: str) -> Execution:
    done = await sandbox.run(code)
    assert (done.error, done.stderr) == ("", "")
    return done


async def test_the_libraries_compute(sandbox: Sandbox) -> None:
    code = """
import mpmath, networkx, numpy, scipy.optimize, sympy
x = sympy.symbols("x")
print(sympy.factor(x**4 - 1))
print(int(numpy.linalg.det(numpy.array([[2.0, 1.0], [1.0, 1.0]])) + 0.5))
print(round(scipy.optimize.brentq(lambda t: t * t - 2, 0, 2), 6))
print(networkx.shortest_path_length(networkx.cycle_graph(9), 0, 4))
print(mpmath.nstr(mpmath.zeta(2), 8))
"""
    assert (await _done(sandbox, code)).stdout == "(x - 1)*(x + 1)*(x**2 + 1)\n1\n1.414214\n4\n1.6449341\n"


async def test_threads_and_coroutines_run(sandbox: Sandbox) -> None:
    code = """
import asyncio, concurrent.futures, threading
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(lambda n: n * n, range(100))))
async def twice(n):
    await asyncio.sleep(0)
    return 2 * n
async def main():
    return await asyncio.gather(*map(twice, range(3)))
print(asyncio.run(main()))
threading.Thread(target=lambda: print("late")).start()
"""
    assert (await _done(sandbox, code)).stdout == "328350\n[0, 2, 4]\nlate\n"


async def test_code_is_the_main_module(sandbox: Sandbox) -> None:
    code = """
import dataclasses, pickle
@dataclasses.dataclass
class Point:
    x: int
if __name__ == "__main__":
    print(pickle.loads(pickle.dumps(Point(3))))
"""
    assert (await _done(sandbox, code)).stdout == "Point(x=3)\n"


async def test_output_in_any_script_is_unchanged(sandbox: Sandbox) -> None:
    assert (await _done(sandbox, 'print("∀ε>0 ∃δ: ‖x‖ < δ · 数学 🙂")')).stdout == "∀ε>0 ∃δ: ‖x‖ < δ · 数学 🙂\n"


async def test_sets_are_printed_in_the_same_order_every_time(sandbox: Sandbox) -> None:
    code = 'print({"alpha", "beta", "gamma", "delta", "epsilon"})'
    assert (await _done(sandbox, code)).stdout == (await _done(sandbox, code)).stdout


async def test_only_bubblewrap_has_a_private_writable_tmp(sandbox: Sandbox) -> None:
    done = await sandbox.run("import tempfile\nwith tempfile.TemporaryFile() as f: print(f.write(b'abc'))")
    assert (done.stdout, done.error) == (("3\n", "") if sandbox.options.level == "bubblewrap" else ("", "exception"))


async def test_a_traceback_has_only_frames_of_the_code(sandbox: Sandbox) -> None:
    done = await sandbox.run("def halve(n):\n    return n / 0\nprint('before')\nhalve(1)")
    assert (done.stdout, done.error, done.exit_code) == ("before\n", "exception", 1)
    assert done.stderr.splitlines()[1] == '  File "<code>", line 4, in <module>'
    assert "return n / 0" in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


async def test_output_before_the_timeout_is_kept(sandbox: Sandbox) -> None:
    done = await sandbox.run("print('found 17')\nwhile True: pass", wall_s=1.0)
    assert (done.stdout, done.error, done.exit_code) == ("found 17\n", "timeout", None)
    assert 1.0 <= done.duration_s < 10.0


async def test_output_beyond_the_limit_is_cut_and_marked(sandbox: Sandbox) -> None:
    done = await sandbox.run("while True: print('x' * 1000)")
    assert (done.error, done.truncated) == ("output", True)
    assert len(done.stdout) + len(done.stderr) == sandbox.options.limits.output_bytes


async def test_long_output_within_the_limit_is_complete(sandbox: Sandbox) -> None:
    assert len((await _done(sandbox, "print('y' * 60_000)")).stdout) == 60_001


async def test_the_cpu_limit_is_a_timeout(sandbox: Sandbox) -> None:
    done = await sandbox.run("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass", wall_s=60)
    assert done.error in ("timeout", "killed")
    assert done.duration_s < 50


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [("exit()", 0, ""), ("raise SystemExit(3)", 3, ""), ("import sys; sys.exit('no solution')", 1, "no solution\n")],
)
async def test_code_may_exit_with_a_code_or_a_message(sandbox: Sandbox, code: str, exit_code: int, message: str) -> None:
    done = await sandbox.run(code)
    assert (done.exit_code, done.stderr, done.error) == (exit_code, message, "exception" if exit_code else "")


async def test_changes_by_one_piece_of_code_are_invisible_to_the_next(sandbox: Sandbox) -> None:
    await sandbox.run("import builtins, math; builtins.left = math.pi = 3")
    assert (
        await _done(sandbox, "import builtins, math; print(hasattr(builtins, 'left'), math.pi > 3.1)")
    ).stdout == "False True\n"
