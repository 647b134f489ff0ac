"""The page /api/, openapi.json and docs/api.md name every operation."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from openapi_spec_validator import validate

from apps.accounts.models import User
from apps.config.api.docs import api_operations


def test_every_operation_and_parameter_is_explained() -> None:
    for operation in api_operations():
        assert operation.summary
        assert operation.meaning
        assert operation.path.startswith("/api/v1/")


def test_the_page_shows_every_operation(client_for: Callable[[User | None], Client], charlie: User) -> None:
    page = client_for(charlie).get(reverse("api_docs")).content.decode()
    for operation in api_operations():
        assert f"<code>{operation.path}</code>" in page
        for row in operation.parameters + operation.body + operation.fields:
            assert f"<code>{row.name}</code>" in page


@pytest.mark.django_db
def test_the_schema_is_public_and_lists_both_authentication_methods(client: Client) -> None:
    schema = client.get(reverse("api:openapi-json")).json()
    assert set(schema["components"]["securitySchemes"]) == {"TokenAuth", "SessionAuth", "WritingTokenAuth"}
    assert "/api/v1/runs/{run_id}/events" in schema["paths"]


@pytest.mark.django_db
def test_the_schema_is_valid_and_whole(client: Client) -> None:
    schema = client.get(reverse("api:openapi-json")).json()
    validate(schema)
    operations = [(name, one) for methods in schema["paths"].values() for name, one in methods.items()]
    assert len({one["operationId"] for _, one in operations}) == len(operations) > 20
    for method, one in operations:
        refused = one["responses"].pop("default")["content"]["application/problem+json"]["schema"]
        assert refused == {"$ref": "#/components/schemas/Problem"}
        ((status, answer),) = one["responses"].items()
        assert answer["content"], one["operationId"]
        writes = method != "get"
        assert status in ({"201", "202"} if method == "post" else {"200"})
        assert one["security"] == ([{"WritingTokenAuth": []}] if writes else [{"TokenAuth": []}, {"SessionAuth": []}])
        assert ("Idempotency-Key" in {row["name"] for row in one.get("parameters", [])}) == writes


def test_the_manual_names_every_operation() -> None:
    manual = (settings.BASE_DIR / "docs" / "api.md").read_text()
    assert [row.path for row in api_operations() if f"`{row.method} {row.path}`" not in manual] == []
