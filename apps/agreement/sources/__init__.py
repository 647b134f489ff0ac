"""Where pairs of points come from: marks of a contest, an imported set, an uploaded file."""
