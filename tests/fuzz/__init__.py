"""A fuzzer: any bytes over the wires, any text in configuration, policy and arguments.

`python -m tests.fuzz --seed 1 --seconds 600`, or `make fuzz SEED=1 SECONDS=600`.
"""
