"""Web processes take a caller's address from the connection; Django alone reads what proxies add, as many as are trusted.

uvicorn by itself believes `X-Forwarded-For` from this machine: anybody on it could try passwords from many addresses.
"""

from pathlib import Path

from pytest_django import Settings

from apps.config.checks import proxies_are_counted
from apps.config.stack import programs
from tests.deployment.compose import services


def test_the_embedded_web_process_believes_no_header(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    web = next(program for program in programs() if program.name == "web")
    assert "--no-proxy-headers" in web.command


def test_nor_does_that_of_an_installation() -> None:
    assert "--no-proxy-headers" in services()["web"]["command"]


def test_a_deployment_that_counts_no_proxy_is_warned(settings: Settings) -> None:
    settings.HTTPS, settings.TRUSTED_PROXIES = True, 0
    (warning,) = proxies_are_counted(None)
    assert "TRUSTED_PROXIES" in str(warning)
    settings.TRUSTED_PROXIES = 1
    assert proxies_are_counted(None) == []
