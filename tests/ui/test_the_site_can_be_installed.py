"""The web manifest: its type, its icons, and what the pages' policy lets a browser load for it."""

import json

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from PIL import Image


@pytest.mark.django_db
def test_a_browser_can_install_the_site() -> None:
    client = Client()
    page = client.get("/accounts/login/")
    assert 'rel="manifest" href="/static/manifest.webmanifest"' in page.content.decode()
    policy = page["Content-Security-Policy"]
    assert "manifest-src 'self'" in policy
    assert "worker-src 'self'" in policy
    answer = client.get("/static/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    manifest = json.loads(answer.content)
    assert manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        path = finders.find(icon["src"])
        assert isinstance(path, str), icon
        if icon["type"] == "image/png":
            with Image.open(path) as picture:
                assert f"{picture.width}x{picture.height}" == icon["sizes"]


@pytest.mark.django_db
def test_the_worker_is_a_script_above_all_editors_and_needs_no_account() -> None:
    answer = Client().get("/contests/problems/worker.js")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/javascript")
    assert b".put(" not in answer.content, "it stores nothing itself"
