"""Runs in the environment of OpenTelemetry's messages: parse a file of spans strictly, and print a summary as JSON.

OTLP writes ids as hexadecimal digits; the parser of protobuf expects base64, so the ids are rewritten first.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS = ("traceId", "spanId", "parentSpanId")


def found_in(path: Path) -> list[dict[str, Any]]:
    """Name, kind, ids, times, attribute names and events of each span. Raises `ParseError` for an unknown field."""
    data = json.loads(path.read_text())
    for span in data["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in _IDS:
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    request = ParseDict(data, ExportTraceServiceRequest())
    spans = request.resource_spans[0].scope_spans[0].spans
    return [
        {
            "name": span.name,
            "kind": span.kind,
            "trace": len(span.trace_id),
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "seconds": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            "attributes": sorted(one.key for one in span.attributes),
            "events": [event.name for event in span.events],
        }
        for span in spans
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(found_in(Path(sys.argv[1]))) + "\n")
