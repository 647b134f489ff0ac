"""Text of responses, for tests that search everything for words: the text of a PDF, or the body of any other response."""

from typing import Any

import pypdfium2  # type: ignore[import-untyped]


def said_by(answer: Any) -> str:
    """The body of a response as text."""
    body: bytes = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return pdf_text(body) if body.startswith(b"%PDF") else body.decode(errors="replace")


def pdf_text(data: bytes) -> str:
    """The text of all pages of a PDF, with its title and other metadata."""
    document = pypdfium2.PdfDocument(data)
    try:
        pages = [page.get_textpage().get_text_bounded() for page in document]
        return "\n".join([*pages, *(f"{key}: {value}" for key, value in document.get_metadata_dict().items())])
    finally:
        document.close()
