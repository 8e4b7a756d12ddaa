"""What runs in a contestant's own process: the standard library and the one it is about."""
