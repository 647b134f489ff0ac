"""From a sealed mark on: sealing, what is revealed after it, revisions, and calibration scripts that measure markers."""
