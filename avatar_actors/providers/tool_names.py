"""Names of the agents' own tools, as far as they are known; a new version may have others.

Nothing is decided by them. A tool policy that fits none of its agent's tools is warned about.
"""

from __future__ import annotations

from typing import Final

CLAUDE: Final = frozenset({
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList",
    "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS", "LSP",
    "ListMcpResources", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "Read",
    "ReadMcpResource", "Skill", "SlashCommand", "Task", "TaskOutput", "TaskStop", "TodoWrite",
    "ToolSearch", "WebFetch", "WebSearch", "Write",
})  # fmt: skip
GEMINI: Final = frozenset({
    "activate_skill", "ask_user", "exit_plan_mode", "glob", "google_web_search", "grep_search",
    "list_directory", "read_file", "read_many_files", "replace", "run_shell_command",
    "save_memory", "search_file_content", "web_fetch", "write_file", "write_todos",
})  # fmt: skip
EMBEDDED: Final = frozenset({
    "Agent", "Bash", "Calculator", "Clock", "Count", "Edit", "Glob", "Grep", "List", "Read",
    "Search", "Task", "WebFetch", "Write", "run_shell_command", "write_file",
})  # fmt: skip
# An agent behind the provider `acp` may be any of these, by another door.
ANY_ACP: Final = CLAUDE | GEMINI
