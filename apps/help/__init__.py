"""The documents of docs/ as pages with anchors and search, and the section that each page's "?" leads to.

The texts themselves are in docs/. Rendering text of users or models is in `apps.ui.markdown`.
"""
