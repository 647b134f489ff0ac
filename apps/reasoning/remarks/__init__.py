"""Model remarks on a student's proof: its first broken step, a question and the reason, or silence. Never a mark. Pure.

| module | what |
|---|---|
| `agreement` | a remark, the reasons for none, and the step that enough votes name |
| `wording` | the form of question and reason, and whether they reveal too much |
| `writer` | the calls: votes on the place, then the words for it |

Not here: rows, pages, and what a student answers to a remark.
"""
