from tests.processes.conftest import warden

__all__ = ["warden"]
