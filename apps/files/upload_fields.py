"""Form field of an uploaded table or archive."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from apps.files.tables import FILE_BYTES


class TableField(forms.FileField):
    """A file of limited size; `advice` follows the refusal of a larger one, `accept` lists the endings to choose from."""

    def __init__(self, *, advice: str = "Split it into smaller files.", accept: str = "", **options: Any) -> None:
        self.advice = advice
        super().__init__(widget=forms.FileInput(attrs={"accept": accept} if accept else None), **options)

    def clean(self, data: Any, initial: Any = None) -> "UploadedFile[Any]":
        upload: UploadedFile[Any] = super().clean(data, initial)
        if (upload.size or 0) > FILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {FILE_BYTES // 1024**2} MB. {self.advice}")
        return upload
