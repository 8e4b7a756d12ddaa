"""The span in which a host prompts an avatar, so that the avatar's spans are its children."""

from __future__ import annotations

import sys


def current_trace_parent() -> str:
    """The caller's OpenTelemetry span as a W3C `traceparent`; empty if there is none.

    A program that has not imported OpenTelemetry has none, and need not pay for its import.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ""
    from opentelemetry.trace import get_current_span  # noqa: PLC0415 - an extra

    span = get_current_span().get_span_context()
    if not span.is_valid:
        return ""
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
