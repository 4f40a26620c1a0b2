"""The programs of the corpus, a file a kind."""
