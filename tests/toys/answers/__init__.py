"""Labelled pairs of answers, other writings of them, and answers that would hang a verifier."""
