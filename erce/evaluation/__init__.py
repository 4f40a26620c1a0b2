"""A model, problems and a verifier → how much it gets right, at once or at every evaluation of a training."""
