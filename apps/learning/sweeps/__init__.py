"""Sweeps: groups of jobs that differ in one or two settings, and pages of any jobs side by side."""
