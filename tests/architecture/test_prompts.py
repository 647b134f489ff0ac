"""Every prompt file is used by exactly one place of its scaffold, hashed into the run, and fenced by the same rule."""

import re
from pathlib import Path

import pytest

from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.registry import SCAFFOLDS

CORE = Path(loader.__file__).parent.parent


@pytest.mark.parametrize("method", SCAFFOLDS)
def test_every_role_has_one_prompt_and_every_prompt_one_use(method: str) -> None:
    source = (CORE / "scaffolds" / method / "asking.py").read_text()
    used = [f"{method}/{name}" for name in re.findall(r'_filled\("(\w+)"', source)]
    forms = [f"{method}/forms/{name}_{kind}" for name in re.findall(r'_form\(x, "(\w+)"', source) for kind in ("tags", "json")]
    fragments = [f"{method}/forms/{name}" for name in re.findall(r"/forms/(\w+)\"", source)]
    assert sorted([*used, *forms, *fragments]) == sorted(loader.names(method))
    assert sorted(used) == sorted(f"{method}/{role.name}" for role in SCAFFOLDS[method].roles)


@pytest.mark.parametrize("method", SCAFFOLDS)
def test_every_prompt_is_hashed_into_the_run(method: str) -> None:
    hashes = SCAFFOLDS[method].prompts
    assert set(hashes) == set(loader.names(method))
    assert len(set(hashes.values())) == len(hashes)


@pytest.mark.parametrize("method", SCAFFOLDS)
def test_every_role_is_told_that_fenced_text_is_content(method: str) -> None:
    for role in SCAFFOLDS[method].roles:
        prompt = loader.load(f"{method}/{role.name}")
        assert "{{fence_rule}}" in prompt.system
        assert prompt.user.startswith("## Problem\n{{problem}}")


def test_no_prompt_lies_outside_the_scaffolds() -> None:
    methods = {path.relative_to(loader.ROOT).parts[0] for path in loader.ROOT.rglob("*.md")}
    assert methods == set(SCAFFOLDS)
