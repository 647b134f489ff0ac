"""Inference: aliases of models.toml, backends without an engine library, and the dispatcher for one process."""
