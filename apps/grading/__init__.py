"""Model gradings: preparation of problems, experiments, agreement with people's points, and grader cards."""
