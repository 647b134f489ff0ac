"""Runs in the environment of leanblueprint: read `web.tex` of a folder, and print what its dependency graph has as JSON."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from plasTeX.Compile import parse
from plasTeX.Config import defaultConfig
from plasTeX.ConfigManager import ConfigManager


def found_in(folder: Path) -> dict[str, Any]:
    """Statements with their kind and Lean names, and edges from a user to what it uses."""
    os.chdir(folder)
    config: ConfigManager = defaultConfig()
    config.read(["plastex.cfg"])
    document = parse("web.tex", config).ownerDocument
    graph = document.userdata["dep_graph"]["graphs"][document]
    return {
        "nodes": {node.id: [node.thmName, node.userdata.get("leandecls", [])] for node in graph.nodes},
        "uses": sorted([user.id, used.id] for used, user in {*graph.edges, *graph.proof_edges}),
        "declarations": document.userdata["lean_decls"],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(found_in(Path(sys.argv[1]))) + "\n")
