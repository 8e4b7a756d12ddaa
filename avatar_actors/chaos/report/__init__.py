"""The report of a run: data, verdict, and the page, summary and plots that show it."""

__all__: list[str] = []
