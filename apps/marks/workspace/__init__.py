"""A marker at work: claims, drafts with undo, keys, the list of scripts, scripts handed on, the panel next to a mark."""
