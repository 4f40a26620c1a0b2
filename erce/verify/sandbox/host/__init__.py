"""What runs in the user's process: the pool of workers, their supervision, and probes of a tier."""
