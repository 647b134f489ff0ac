"""A job in several processes: agreement, division of the weights, saving together."""
