"""A finished run and a person who may read it."""

import pytest

from apps.accounts.models import User
from apps.runs.models import Run
from tests.explorations.factory import make_exploration


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice)
