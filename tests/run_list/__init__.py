"""The list of runs: filters, order, saved views, and actions on selected runs."""
