"""What an answer says to a person, for tests that search everything for words: of a PDF its text, of all else the bytes."""

from typing import Any

import pypdfium2  # type: ignore[import-untyped]


def said_by(answer: Any) -> str:
    """The body of a response as text."""
    body: bytes = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return pdf_text(body) if body.startswith(b"%PDF") else body.decode(errors="replace")


def pdf_text(data: bytes) -> str:
    """The text of all pages of a PDF, with its title and all that else stands beside the pages."""
    document = pypdfium2.PdfDocument(data)
    try:
        pages = [page.get_textpage().get_text_bounded() for page in document]
        return "\n".join([*pages, *(f"{key}: {value}" for key, value in document.get_metadata_dict().items())])
    finally:
        document.close()
