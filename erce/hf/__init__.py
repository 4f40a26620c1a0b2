"""What erce needs of a Hugging Face causal language model: loading, prompts, the loss at its head."""
