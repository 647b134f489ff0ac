"""Datasets: token shards of recorded runs, and immutable versions made from them.

Not here: the rows of a recipe (`apps.recipes.rows`), training jobs (`apps.learning`).

Doors: `recorded.feeding`, `recorded.recorded`, `recorded.unread`, `rewards`, `tokens.shards`, `versions.choosing`,
`versions.commit`, `versions.manifest`.
"""
