"""Token shards below `DATA_DIR/tokens`: written atomically, merged when a run has ended."""
