"""Problems from and to files: CSV and JSONL, in our shape or an IMO-Bench shape. docs/problem_formats.md is the manual."""
