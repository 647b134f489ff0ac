"""The thread of every orchestrator process that starts cells while there is capacity.

All its state is in the database. Changes of cells and experiments wake it; `advancing.conduct` is its work.
"""

from apps.processes.watcher import Watcher

#: Cells that end together share their database reads.
CONDUCTOR = Watcher("experiments", every_s=1.0, gather_s=0.1)
