"""Intern-S1-MO: explore in rounds, keep proved results as lemmas, check each lemma by votes, then write, check and revise.
Source: Intern-S1-MO (arXiv 2512.10739) §3, App. A and B. Rollouts explore independently, each with its own library, but in
step: all reason, then all summarise, then all verify. No call is under way at a control point, so that commands have the same
effect on every replay.

Call keys (rollouts from 0; rounds, votes, candidates and revisions from 1):
    s0/r1/reason   s0/r1/summarise   s0/r1/verify/s0.7/2   human/verify/h.1/1
    s0/r1/reason/turn/2   s0/r1/reason/turn/1/check (with `check_tool`, instead of s0/r1/reason)
    final/write/1  final/check/2/3 (vote 3 on proof/2; with candidates final/check/2.1/3)  final/revise/1/1
Lemma ids: s0.7 (rollout 0, number 7), s0.7-fixed and s0.7-fixed2 (its corrections), h.1 (a person's).
Proof ids: proof/1, proof/2; with more than one candidate proof/2.1, proof/2.2.
Control points: r1/reason, r1/summarise, r1/verify, r1/votes, r1/end, r2/reason …, final/write, final/check/1, final/votes/1,
final/revise/1, final/check/2 …
Output formats: docs/intern_s1_mo_formats.md.
"""
