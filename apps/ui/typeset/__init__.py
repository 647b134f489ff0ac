"""Texts of people and models as PDF, made by the server without a browser: Typst sets them, formulas included.

| module | what |
|---|---|
| `prose` | the HTML of `apps.ui.markdown` as a tree of plain values |
| `formulas` | a formula of TeX as a tree, or nothing where it cannot be set surely |
| `document` | the parts of a document |
| `press` | a document to PDF, in a child process with limits |
| `child` | that process |
| `document.typ` | how a document looks; it reads values and executes none |
"""
