"""A study's folder → every number of its report."""
