"""How a scaffold runs: its context, calls with second questions, tools, formula checks, budgets and limits."""
