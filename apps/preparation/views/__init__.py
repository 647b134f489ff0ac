"""Pages of a problem's preparation."""
