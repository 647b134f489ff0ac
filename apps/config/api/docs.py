"""The operations of the HTTP API as rows for the page /api/, read from the OpenAPI schema."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.config.api import urls


@dataclass(frozen=True)
class FieldRow:
    """A parameter, or a field of a response: name, type and meaning."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class OperationRow:
    """One operation with its parameters and the fields of its response."""

    anchor: str
    method: str
    path: str
    summary: str
    meaning: str
    parameters: list[FieldRow]
    body: list[FieldRow]
    answer: str
    fields: list[FieldRow]


def api_operations() -> list[OperationRow]:
    """All operations in the order of their definition."""
    schema: dict[str, Any] = urls.api.get_openapi_schema(path_prefix=reverse("api:api-root"))
    shapes = schema.get("components", {}).get("schemas", {})
    return [
        _operation(path, method, operation, shapes)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def _operation(path: str, method: str, operation: dict[str, Any], shapes: dict[str, Any]) -> OperationRow:
    parameters = [
        _row(item["name"], {"description": item.get("description", "")} | item["schema"])
        for item in operation.get("parameters", [])
    ]
    success = next(answer for status, answer in operation["responses"].items() if status != "default")
    answer, fields = _fields(success, shapes)
    return OperationRow(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        meaning=operation.get("description", ""),
        parameters=parameters,
        body=_fields(operation.get("requestBody", {}), shapes)[1],
        answer=answer,
        fields=fields,
    )


def _fields(message: dict[str, Any], shapes: dict[str, Any]) -> tuple[str, list[FieldRow]]:
    """The description of a body, and its fields with those of the shapes that it holds."""
    content = message.get("content", {}).get("application/json", {}).get("schema", {})
    shape = shapes.get(_type(content), {})
    fields = [_row(key, item) for key, item in shape.get("properties", {}).items()]
    for row in list(fields):
        name = row.type.removesuffix(" or null")
        inner = shapes.get(name.removesuffix("[]"), {})
        stem = row.name + ("[]" if name.endswith("[]") else "")
        fields += [_row(f"{stem}.{key}", item) for key, item in inner.get("properties", {}).items()]
    return shape.get("description", ""), fields


def _row(name: str, schema: dict[str, Any]) -> FieldRow:
    """The row of a schema; an enumeration without a meaning gets its values."""
    values = ", ".join(str(one) for one in schema.get("enum", ()) if one != "")
    return FieldRow(name, _type(schema), schema.get("description", "") or values)


def _type(schema: dict[str, Any]) -> str:
    """A schema's type in a word: `string`, `integer or null`, `ProblemRow[]`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    for union in ("anyOf", "allOf", "oneOf"):
        if union in schema:
            return " or ".join(_type(item) for item in schema[union])
    if schema.get("type") == "array":
        return _type(schema.get("items", {})) + "[]"
    return str(schema.get("format") or schema.get("type", "object"))
