"""Values of the domain. Frozen, validated, free of I/O; every other package of the core may import them."""
