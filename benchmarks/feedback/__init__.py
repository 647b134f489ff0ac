"""Figures on hints and remarks for students."""
