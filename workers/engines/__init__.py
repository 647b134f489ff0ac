"""Engines of inference workers: OpenVINO, vLLM, servers of others."""
