"""The story of a run: the core folds it once, and the replay's script has the same one."""
