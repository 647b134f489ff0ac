"""Static files are sent completely with their type, and as "not modified" if the browser has them."""

from django.test import Client


def test_a_static_file_is_sent_completely_with_its_type() -> None:
    answer = Client().get("/static/css/tokens.css")
    assert answer.status_code == 200
    assert not answer.streaming
    assert answer["content-type"].startswith("text/css")
    assert b"--paper" in answer.content


def test_a_cached_file_is_not_sent_again() -> None:
    first = Client().get("/static/css/tokens.css")
    again = Client().get("/static/css/tokens.css", headers={"if-modified-since": first["last-modified"]})
    assert again.status_code == 304
    assert again.content == b""


def test_a_path_outside_the_folder_is_not_served(db: None) -> None:
    answer = Client().get("/static/../manage.py")
    assert answer.status_code in {302, 404}
    assert b"execute_from_command_line" not in answer.content
