"""Submissions: drafts, immutable versions with their steps, bulk import, and scans."""
