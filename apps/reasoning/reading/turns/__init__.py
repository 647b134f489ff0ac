"""What a model does in a turn: an action, code, a call of a function."""
