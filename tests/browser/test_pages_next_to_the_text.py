"""A script with pages: handwriting stays in sight next to the step in focus, and above it on a narrow screen."""

import io
from collections.abc import Callable

import pytest
from django.test import Client
from PIL import Image
from playwright.sync_api import FloatRect, Locator
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.submissions.models import Scan, SubmissionVersion, VersionScan
from tests.browser.marking_pages import room_of, session_of
from tests.marks.factory import problem_to_mark
from tests.ui.axe import AXE, faults_in_both_themes

ClientFor = Callable[[User | None], Client]

pytestmark = pytest.mark.django_db(transaction=True)


def box_of(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None
    return box


def test_pages_are_shown_next_to_the_steps(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob, scripts=1)
    version = SubmissionVersion.objects.select_related("submission").get()
    written = io.BytesIO()
    Image.new("L", (600, 850), 220).save(written, "JPEG")
    for number in (1, 2, 3):
        scan = Scan.objects.create(submission=version.submission, jpeg=written.getvalue(), width=600, height=850)
        VersionScan.objects.create(version=version, scan=scan, number=number)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 900}) as room:
        page = room.begin()
        last, pages = page.locator(".marking__step").last, page.locator(".marking__pages")
        page.keyboard.press("j")
        page.locator(".marking__step[aria-current]").wait_for()
        assert box_of(pages)["x"] + box_of(pages)["width"] <= box_of(last)["x"], "next to it, not above"
        assert box_of(pages)["height"] <= 900, "three pages scroll in their own column"
        if AXE.exists():
            assert faults_in_both_themes(page) == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert box_of(pages)["y"] + box_of(pages)["height"] <= box_of(last)["y"], "a narrow screen has one column"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
