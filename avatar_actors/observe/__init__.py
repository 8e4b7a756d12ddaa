"""What others see of a runtime: log, metrics, supervision tree; never the content of turns."""

__all__: list[str] = []
