"""The user's process: the pool of workers, the supervision of each, and probes of the tiers."""
