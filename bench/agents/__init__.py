"""What the programs about avatars share: figures with bounds, their command line, and agents."""
