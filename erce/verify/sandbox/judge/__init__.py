"""The judge's process: the run of the tests, and stand-ins for what the program defines."""
