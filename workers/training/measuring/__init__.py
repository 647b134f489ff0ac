"""What a training job measures: metrics, held-out problems, drift, checks for NaN."""
