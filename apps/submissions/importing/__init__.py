"""Import of submissions.

`files` reads archives safely, `shapes` parses layouts, `plans` previews and imports, `texts` stores many texts at once.
"""
