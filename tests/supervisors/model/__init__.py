"""Random trees with random crashes: the real supervisors against a small pure model of the rules.

`plans` says what a tree is and what can be done to it. `rules`, with its state in `book`, predicts
what must come of it. A `rehearsal` of steps by the rules gives a script with a `trace` for each of
them. `stage` plays the script on a real tree, on virtual time. `machine` invents scripts.
"""
