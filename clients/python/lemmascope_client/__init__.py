"""A client of Lemmascope's HTTP API for notebooks and scripts: runs, experiments, and data frames.

Not here: the server. This package imports httpx, and pandas if it is installed.
"""

from lemmascope_client.client import Client
from lemmascope_client.comparison import Comparison
from lemmascope_client.errors import (
    Conflict,
    Disconnected,
    Invalid,
    LemmascopeError,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooMany,
    Unavailable,
)
from lemmascope_client.events import Event
from lemmascope_client.experiments import Experiment
from lemmascope_client.runs import Run

__all__ = [
    "Client",
    "Comparison",
    "Conflict",
    "Disconnected",
    "Event",
    "Experiment",
    "Invalid",
    "LemmascopeError",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "Run",
    "TooMany",
    "Unavailable",
]
