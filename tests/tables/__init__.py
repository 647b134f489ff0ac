"""Tables that coaches have, imported into contests."""
