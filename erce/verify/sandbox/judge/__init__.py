"""What runs in the judge's process: the tests, and stand-ins for the objects of the program."""
