"""What a job records while it trains: curves, charts of several jobs, sample rows."""
