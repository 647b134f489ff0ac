"""Reading final answers: from tokens to expressions, conditions and lists."""
