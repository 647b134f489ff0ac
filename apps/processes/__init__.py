"""What every process of an installation needs: Redis, logs, counts, heartbeat, file locks, threads, crash points of tests.

Not here: anything about runs, contests or people. No models.
"""
