"""An experiment on solving is added to in the browser: the builder with the stored manifest, and its page.

Not here: the change itself (`apps.experiments.solving.services`), and the builder of new experiments.
"""
