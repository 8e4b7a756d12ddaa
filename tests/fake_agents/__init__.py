"""Agents for tests: they speak as Claude Code, Gemini CLI and Codex do, and play scripts."""
