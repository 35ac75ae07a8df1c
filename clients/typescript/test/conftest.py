"""What the chaos test takes from the tests of the other client: a real service on a test clock."""

from clients.python.tests.conftest import migrated, postgres, service

__all__ = ["migrated", "postgres", "service"]
