"""Labelled pairs of answers, and ways to rewrite and grow them."""
