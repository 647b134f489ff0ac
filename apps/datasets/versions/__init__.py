"""Dataset versions: choice of runs, preview, making, manifest, downloads."""
