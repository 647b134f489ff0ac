"""Pages of contests: `reading` looks, `writing` changes settings and state, `people` coaches, students and identities."""
