"""Sources, steps, anchors and revisions of submitted texts: no database, no Django."""
