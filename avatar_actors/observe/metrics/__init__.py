"""Figures about all avatars of a runtime, for Prometheus or OpenTelemetry."""

__all__: list[str] = []
