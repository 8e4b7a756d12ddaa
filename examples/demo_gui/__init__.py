"""A small app for the terminal with a figure, to copy and change: `python -m examples.demo_gui`."""
