"""The journal of a program's calls, as the core needs it: in memory, or in a file."""
