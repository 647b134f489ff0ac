"""Normal forms of expressions, and claims with their conditions as polynomials."""
