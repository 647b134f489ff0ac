"""Values and shapes of final answers, and their equality."""
