"""The HTTP API at /api/v1/: operations, schemas, and the rows of its page of documentation."""
