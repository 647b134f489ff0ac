"""Model remarks on a student's proof: its first broken step, a question and the reason, or silence. Never a mark. Pure.

| module | what |
|---|---|
| `agreement` | a remark, the reasons for none, and the rule of agreement |
| `wording` | question and reason: form, reading and leak tests |
| `writer` | the calls: votes on the place, then the words for it |

Not here: rows, pages, and the answers of students to remarks.
"""
