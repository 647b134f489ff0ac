"""Programs that join scaffolds with graders, and the tables of all that can be run."""
