"""Import and export of problems as CSV and JSONL. Formats: docs/problem_formats.md."""
