"""The durable journal: events, step records and texts of runs, written in batches by one thread a process."""
