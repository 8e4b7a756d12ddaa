"""Random trees with random crashes: the real supervisors against a small pure model of the rules.

`plans` says what a tree is and what can be done to it, `rules` predicts what must happen, `stage`
does it to a real tree on virtual time, `machine` invents it.
"""
