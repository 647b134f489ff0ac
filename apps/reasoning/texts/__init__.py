"""Texts that people and models hand in: one unit for places in them, their formulas, their steps, and anchors. Pure.

| module | what |
|---|---|
| `source` | the normal form in which every offset counts code points, and the way from and to JavaScript's units |
| `formulas` | places of formulas; a formula is never cut in two |
| `segmentation` | the numbered steps of a text |
| `anchors` | a place in a text that can be found again, or is honestly lost |
| `revision` | which step of a revised text is which of the old one |
"""
