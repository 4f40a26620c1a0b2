"""A policy and problems → k Completions per problem; one file per backend."""
