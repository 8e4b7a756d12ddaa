"""Installs the real agents at pinned versions, outside the checkout, and says how each is run."""

from tests.real_agents.install.agents import AGENTS, InstalledAgent, installed_agents
from tests.real_agents.install.cache import latest_folder, pinned_folder

__all__ = ["AGENTS", "InstalledAgent", "installed_agents", "latest_folder", "pinned_folder"]
