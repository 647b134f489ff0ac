"""Formula checks of imported runs, made after the import and kept apart from the recorded journal."""
