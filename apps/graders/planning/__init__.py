"""What a grading will be: grader, models and parameters, their names and settings, and the lengths that estimates need."""
