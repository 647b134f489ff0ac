"""Web processes take a client's address from the connection. Only Django reads the headers of as many proxies as are trusted.

uvicorn itself trusts `X-Forwarded-For` from this machine, so any user of it could try passwords from many addresses.
"""

from pathlib import Path

from pytest_django import Settings

from apps.config.checks import proxies_are_counted
from apps.config.stack import programs
from tests.deployment.compose import services


def test_the_embedded_web_process_trusts_no_header(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    web = next(program for program in programs() if program.name == "web")
    assert "--no-proxy-headers" in web.command


def test_the_web_process_of_an_installation_trusts_no_header() -> None:
    assert "--no-proxy-headers" in services()["web"]["command"]


def test_a_deployment_without_counted_proxies_gets_a_warning(settings: Settings) -> None:
    settings.HTTPS, settings.TRUSTED_PROXIES = True, 0
    (warning,) = proxies_are_counted(None)
    assert "TRUSTED_PROXIES" in str(warning)
    settings.TRUSTED_PROXIES = 1
    assert proxies_are_counted(None) == []
