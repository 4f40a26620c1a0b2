"""The numbers of a report → sentences: what was found, and what could be wrong with it."""
