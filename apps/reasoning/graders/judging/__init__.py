"""From a grader's call to its grading: the desk that asks, the reading of an answer, its totals, findings and places."""
