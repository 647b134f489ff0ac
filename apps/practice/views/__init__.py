"""Pages of practice: for students, and for the coaches who answer them."""
