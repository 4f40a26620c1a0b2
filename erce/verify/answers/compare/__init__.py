"""Trees and typed values → whether two of them are the same."""
