"""Who drives a run: leases with fences, shares of people, the drive itself, commands to it, and runs without an owner."""
