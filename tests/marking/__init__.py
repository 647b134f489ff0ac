"""The engine of marking schemes, and steps of submissions: no database, no Django."""
