"""What students get: releases, results, appeals, hints, revisions, and nothing before its time."""
