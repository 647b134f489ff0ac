"""The installation, for staff: its state now and before, metrics, log lines, backup and restore.

Not here: settings and processes (`apps.config`).
"""
