"""Scores by people: the sample that they mark, blind marking, and means of graders corrected by their marks.

Not here: scores by graders (`..grading`), and marks on contest scripts (`apps.marks`).
"""
