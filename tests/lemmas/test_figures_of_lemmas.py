"""A lemma or proof with a geometry block has a figure and the numerical outcome on its page."""

import html

import pytest
from django.test import Client

from apps.geometry.showing import blocks
from apps.lemmas.models import Lemma, ProofVersion
from tests.lemmas.factory import make_story_run, make_user

BLOCK = "```geometry\na b c = triangle;\n\nh = orthocenter a b c ? perp a h b c\n```"
FALSE = "```geometry\na b c = triangle ? cong a b a c\n```"


def page(client: Client, path: str) -> str:
    return html.unescape(client.get(path).content.decode())


@pytest.mark.django_db
def test_a_block_in_a_statement_gives_a_figure_and_its_outcome(client: Client) -> None:
    client.force_login(make_user("ada"))
    run = make_story_run()
    Lemma.objects.filter(run=run, lemma="s0.1").update(statement=f"The altitudes meet.\n\n{BLOCK}")
    said = page(client, f"/runs/{run.public_id}/lemmas/s0.1/")
    assert '<svg class="figure"' in said
    assert "AH ⟂ BC" in said
    assert "Survived 200 configurations." in said
    assert "Open in Geometry and search for a proof" in said


@pytest.mark.django_db
def test_blocks_in_steps_and_proofs_count_too(client: Client) -> None:
    client.force_login(make_user("ada"))
    run = make_story_run()
    Lemma.objects.filter(run=run, lemma="s0.1").update(steps=["First.", FALSE, "```geometry\na b = segmant\n```"])
    said = page(client, f"/runs/{run.public_id}/lemmas/s0.1/")
    assert "refuted:" in said
    assert "Do you mean “segment”?" in said
    proof = ProofVersion.objects.filter(run=run).first()
    assert proof is not None
    ProofVersion.objects.filter(pk=proof.pk).update(steps=[FALSE])
    assert '<svg class="figure"' in page(client, f"/runs/{run.public_id}/proofs/{proof.name}/")


@pytest.mark.django_db
def test_a_lemma_without_a_block_has_no_figure(client: Client) -> None:
    client.force_login(make_user("ada"))
    run = make_story_run()
    said = page(client, f"/runs/{run.public_id}/lemmas/s0.1/")
    assert "<h3>Figure" not in said


def test_only_fenced_blocks_with_the_word_geometry_are_read() -> None:
    assert blocks(f"Text\n{BLOCK}\nand\n~~~geometry\na = free a\n~~~\n```python\na = 1\n```\n```geometry\nnever closed") == [
        "a b c = triangle;\n\nh = orthocenter a b c ? perp a h b c",
        "a = free a",
    ]
