"""A policy and problems → k Completions a problem; one file a backend."""
