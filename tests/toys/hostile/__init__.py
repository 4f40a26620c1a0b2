"""The corpus of hostile and honest programs, and the cage in which they are run."""
