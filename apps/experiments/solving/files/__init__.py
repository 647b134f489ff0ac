"""Files of experiments on solving: tables of cells and scores, tables of methods, manifests, and Inspect's `.eval` logs.

Not here: the numbers of the table (`solving.tables`, `solving.pages`) and the files of gradings (`experiments.exports`).
"""
