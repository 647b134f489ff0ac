"""Jobs that make their own runs while they train: their form, plan and feed."""
