from tests.hosting.conftest import engines

__all__ = ["engines"]
