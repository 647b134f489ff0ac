"""The pure core: how a proof is searched for, journaled and judged. No Django, Celery, Channels, torch or engine imports.

Not here: rows of a database, pages, processes.
"""
