"""Tests of a claim: points within its domains, exact values and intervals, decisions, and limits on work and time."""
