"""Marking schemes that compute: what they are made of, what a set of ticks is worth, and why. No I/O, no models, no people.

| module | what |
|---|---|
| `scheme` | the values: `Scheme`, `Chain`, `SchemeItem` |
| `evaluation` | `evaluate(scheme, ticks)` → points with their derivation |
| `selection` | the best admissible set of items that exclude each other |
| `checks` | errors and warnings of a scheme before its use |
| `text_form`, `json_form` | two forms of one scheme, read and written without loss |
| `claims` | the claim line that a marker types: `A c1 e2 !cap5 -d1` |
| `lineage` | which item of a new version is which of the old one; content and meaning hashes |
| `importing` | coarse guidelines and lists of grading points made into schemes |
"""
