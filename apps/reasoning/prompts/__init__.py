"""Prompts: one Markdown file each, with strict placeholders, and the fences that keep foreign text apart from instructions."""
