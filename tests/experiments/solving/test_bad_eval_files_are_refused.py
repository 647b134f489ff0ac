"""A log that cannot be imported is refused with advice, and nothing of it is kept."""

import io

import pytest

from apps.experiments.models import Experiment
from apps.experiments.solving.files import inspect_reading
from apps.experiments.solving.files.importing import log_import
from apps.experiments.solving.files.inspect_reading import LogWrong
from tests.cast import person
from tests.experiments.solving.logs import bad_logs, log, nothing_was_imported, parts_of, sample, with_zstandard
from tests.experiments.solving.playing import begin, make_problem_set

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def experiment() -> Experiment:
    make_problem_set(3)
    return begin(person("alice"), scorers=[{"name": "answer", "kind": "answer"}], repeats=2)


@pytest.mark.parametrize("name", list(bad_logs()))
def test_a_bad_log_is_refused_with_advice_and_nothing_is_imported(experiment: Experiment, name: str) -> None:
    data, advice = bad_logs()[name]
    with pytest.raises(LogWrong, match=advice):
        log_import(experiment=experiment, file=io.BytesIO(data), method="theirs")
    assert nothing_was_imported(experiment)


def test_a_log_that_unpacks_to_too_much_is_refused(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = parts_of(sample(1)) | {"samples/sum-1_epoch_1.json": sample(1, input=" " * 5_000_000)}
    for name, most in (("MEMBER_BYTES", 1_000_000), ("TOTAL_BYTES", 1_000_000)):
        with monkeypatch.context() as patch:
            patch.setattr(inspect_reading, name, most)
            for file in (log(bomb), with_zstandard(bomb)):
                with pytest.raises(LogWrong, match="too large when unpacked"):
                    log_import(experiment=experiment, file=file, method="theirs")
    assert nothing_was_imported(experiment)


def test_a_name_that_is_taken_or_unusable_is_refused(experiment: Experiment) -> None:
    for name, reason in (("single", "already has a method single"), ("<b>", "Choose another name")):
        with pytest.raises(LogWrong, match=reason):
            log_import(experiment=experiment, file=log(parts_of(sample(1))), method=name)
    assert nothing_was_imported(experiment)
