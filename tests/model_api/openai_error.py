"""How both OpenAI dialects say no."""

from tests.model_api.recorded import Json
from tests.model_api.script import OVERLOADED, Fail

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_exceeded",
    500: "server_error",
    503: "server_is_overloaded",
}


def error(fail: Fail) -> tuple[int, Json]:
    status = 503 if fail.status == OVERLOADED else fail.status
    kind = fail.kind or KINDS.get(status, "server_error")
    return status, {"error": {"message": fail.message, "type": kind, "code": kind, "param": None}}
