"""A run's story: its events folded once into one typed `RunStory`, which pages, exports, datasets and the library read.

Neither a database nor a page's layout belongs here. `static/js/run/story.js` folds the same events for the replay.
"""
