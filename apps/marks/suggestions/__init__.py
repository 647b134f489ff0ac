"""Suggestions of graders: requested once per question, answered in the background, sent again if a process was lost."""
