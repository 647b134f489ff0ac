"""PDFs of texts of users and models, created on the server with Typst, formulas included.

| module | content |
|---|---|
| `prose` | HTML of `apps.ui.markdown` as a tree of plain values |
| `formulas` | a TeX formula as a tree, or None if it may not be set correctly |
| `document` | the parts of a document |
| `press` | conversion to PDF in a child process with limits |
| `child` | that process |
| `document.typ` | layout; it reads values and executes none |
"""
