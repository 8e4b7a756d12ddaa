"""The real supervisors do what the rules say, whatever tree and whatever happens to it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.supervisors.model.machine import SupervisionMachine

# The same examples each time, unless somebody asks for more of them.
EXAMPLES = os.environ.get("HYPOTHESIS_EXAMPLES")
SETTINGS = settings(
    max_examples=int(EXAMPLES or 120),
    derandomize=EXAMPLES is None,
    stateful_step_count=20,
    deadline=None,
    print_blob=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_random_trees_with_random_crashes_follow_the_rules() -> None:
    run_state_machine_as_test(SupervisionMachine, settings=SETTINGS)
