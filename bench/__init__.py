"""Figures: what `supervisors` costs beside plain trio, asyncio and pykka, measured in one run."""
