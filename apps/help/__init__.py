"""The documents of docs/ as pages with anchors and search, and the section that each page's "?" leads to.

Not here: the texts (docs/), rendering text of users or models (`apps.ui.markdown`).
"""
