"""Files that people upload and download: tables in CSV and JSONL, archives, values of cells, the one writer of CSV.

Not here: what an import makes of them (each app's `importing`). No models.
"""
