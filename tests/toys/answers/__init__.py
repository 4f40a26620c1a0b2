"""Labelled pairs of answers, and ways to rewrite, alter and grow them."""
