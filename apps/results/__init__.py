"""What students get: released results, appeals, feedback and hints."""
