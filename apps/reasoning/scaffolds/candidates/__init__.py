"""What scaffolds that compare whole solutions share: asking, drafting, judging, ranking, tournaments."""
