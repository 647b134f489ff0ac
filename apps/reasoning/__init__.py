"""The pure core: how a proof is searched for, journaled and judged. No Django, Celery, Channels, torch or engine imports."""
