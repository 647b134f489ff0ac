"""Views of contests: `reading`, `writing` (settings and state), `people` (coaches, students, identities) and `staff`."""
