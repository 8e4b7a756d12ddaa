"""Programs to watch and to read; each runs as `python -m examples.NAME`."""
