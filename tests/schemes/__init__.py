"""Tests of marking schemes: versions, pages and refusals."""
