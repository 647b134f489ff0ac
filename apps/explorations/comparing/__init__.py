"""Two to four runs of one problem side by side: outcome, cost, curves, common lemmas, and the difference of two graphs."""
