"""The same work in the natural code of each contestant: messages between actors, and their lives.

Every program takes the number of operations and returns the seconds they took, set-up and clean-up
not counted (where it returns something else, it says so), and checks that the work was done.
"""
