"""What students receive: released results, appeals, feedback and hints."""
