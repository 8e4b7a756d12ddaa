"""Tests of the package `supervisors`, which knows trio and nothing of AI."""
