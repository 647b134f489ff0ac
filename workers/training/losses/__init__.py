"""Losses beyond TRL's clipped ones: supervised, OREAL with its token reward model, PPO with a value head."""
