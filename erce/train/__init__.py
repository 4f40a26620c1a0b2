"""TRL's SFT trainer with λ · entropy in its objective: demonstrations → an adapter."""
