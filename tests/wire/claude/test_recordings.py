"""What the wire makes of recordings of the real Claude Code 2.1.325, fact by fact."""

from avatar_actors.wire.facts import TurnOver
from tests.wire.claude.replay import Replay
from tests.wire.digest import digest


def test_streamed_text_and_thoughts_come_once() -> None:
    assert digest(Replay("s01_text_partial").facts) == [
        "renamed a071457a",
        "session claude-opus-5-5 default",
        "text echo: hello there",
        "cost 10+11",
        "cost 10+11 $0.000260",
        "context 21/1000000",
        "over 1 completed end_turn $0.000260",
        "thought 11 Let me think about it carefully, step by ste…",
        "text Thought done.",
        "cost 10+45",
        "cost 10+45 $0.000940",
        "context 55/1000000",
        "over 2 completed end_turn $0.000940",
    ]


def test_parallel_tools_have_each_their_result_in_order_of_completion() -> None:
    assert digest(Replay("s02_parallel_tools").facts) == [
        "renamed 51daf860",
        "session claude-opus-5-5 default",
        "text Three.",
        "Bash started",
        "Bash started",
        "Read started",
        "Nope started",
        "Nope failed ! <tool_use_error>Error: No such tool availa…",
        "Bash completed hi1",
        "warning Bash was denied by the agent's own rules: Th…",
        "Bash failed ! This Bash command contains multiple operat…",
        "Read completed 1\tline1\n2\tline2\n3\t",
        "text got ERR:<tool_use_error>Error: No such tool …",
        "cost 20+193 $0.003940",
        "over 1 completed end_turn $0.003940",
    ]


def test_a_cancel_withdraws_the_open_permission_request() -> None:
    assert digest(Replay("s04c_permission_outstanding_interrupt").facts) == [
        "renamed 73da5f26",
        "session claude-opus-5-5 default",
        "Bash started",
        "asked Bash allow_once allow_always reject_once",
        "Bash started",
        "withdrawn",
        "Bash cancelled ! The user doesn't want to proceed with this…",
        "Bash cancelled ! The user doesn't want to proceed with this…",
        "cost 10+70 $0.001440",
        "over 1 cancelled aborted_tools $0.001440",
        "warning permission request 'ccad43d5-d424-426a-8495-…",
        "text got ERR:The user doesn't want to proceed wit…",
        "cost 10+111 $0.002260",
        "over 2 completed end_turn $0.002260",
    ]


def test_an_interrupted_answer_is_cancelled_and_the_next_turn_is_whole() -> None:
    assert digest(Replay("s05_interrupt").facts) == [
        "renamed 742916f9",
        "session claude-opus-5-5 default",
        "text word word word word word word ",
        "cost 10+1",
        "cost 10+1 $0.000000",
        "over 1 cancelled aborted_streaming $0.000000",
        "text echo: again please",
        "cost 10+12",
        "cost 10+12 $0.000280",
        "context 22/1000000",
        "over 2 completed end_turn $0.000280",
        "Bash pending",
        "Bash started",
        "warning Bash was denied by the agent's own rules: Th…",
        "Bash failed ! This Bash command contains multiple operat…",
        "cost 10+43",
        "text got ERR:This Bash command contains multiple …",
        "cost 20+84",
        "cost 20+84 $0.001760",
        "context 51/1000000",
        "over 3 completed end_turn $0.001760",
    ]


def test_an_interrupted_tool_is_cancelled() -> None:
    assert digest(Replay("s05c_interrupt_tool").facts) == [
        "renamed be093a76",
        "session claude-opus-5-5 acceptEdits",
        "text Go.",
        "Bash started",
        "Bash started",
        "Bash cancelled ! The user doesn't want to proceed with this…",
        "Bash cancelled ! The user doesn't want to proceed with this…",
        "cost 10+85 $0.001740",
        "over 1 cancelled aborted_tools $0.001740",
        "text echo: again",
        "cost 10+10 $0.000240",
        "over 2 completed end_turn $0.000240",
    ]


def test_a_spent_budget_fails_this_turn_and_the_next() -> None:
    assert digest(Replay("s08_budget").facts) == [
        "renamed f5b9539d",
        "session claude-opus-5-5 default",
        "Bash started",
        "Bash completed 0",
        "Bash started",
        "cost 120000+4000 $0.560000",
        "Bash unknown",
        "over 1 failed budget_exhausted $0.560000 Reached maximum budget ($0.5)",
        "cost 0+0 $0.000000",
        "over 2 failed budget_exhausted $0.000000 Reached maximum budget ($0.5)",
    ]


def test_structured_output_is_the_data_of_a_turn_and_its_absence_is_none() -> None:
    overs = [fact for fact in Replay("s09_schema").facts if isinstance(fact, TurnOver)]
    assert [over.data for over in overs] == [{"name": "bob", "n": 3}, None, None]


def test_structured_output_is_the_text_of_a_turn_without_text() -> None:
    assert digest(Replay("s09_schema").facts) == [
        "renamed 24bb62dd",
        "session claude-opus-5-5 default",
        "StructuredOutput started",
        "StructuredOutput failed ! Output does not match required schema: /n:…",
        "StructuredOutput started",
        "StructuredOutput completed Structured output provided successfully",
        'text {"name":"bob","n":3}',
        "cost 20+62 $0.001320",
        "over 1 completed tool_use $0.001320",
        "text just text no toolecho: UST call the Structur…",
        "cost 20+40 $0.000880",
        "over 2 completed end_turn $0.000880",
        'text {"name":"z","n":1}echo: UST call the Structu…',
        "cost 20+42 $0.000920",
        "over 3 completed end_turn $0.000920",
    ]


def test_what_sub_agents_say_is_activity_and_never_text() -> None:
    assert digest(Replay("s10_agent").facts) == [
        "renamed 2fc1e6b0",
        "session claude-opus-5-5 default",
        "text Delegating.",
        "Agent pending",
        "Agent started",
        "agent worker running do it",
        "Agent pending",
        "Agent completed Async agent launched successfully. (This too…",
        "Agent started",
        "agent general-purpose running do it 2",
        "cost 10+182",
        "Agent completed Async agent launched successfully. (This too…",
        "agent worker running do it | sub start",
        "Bash started in sub-agent",
        "agent worker running Running d | sub start",
        "agent general-purpose running do it 2 | sub start",
        "Bash started in sub-agent",
        "agent general-purpose running Running d | sub start",
        "text parent got Async agent launched successfully…",
        "Bash completed in sub-agent insub",
        "Bash completed in sub-agent insub2",
        "text unched successfully. (This tool result is in…",
        "cost 20+296",
        "agent worker running Running d | sub startsub done insub",
        "agent worker completed Running d | sub startsub done insub",
        "agent worker completed sub done insub | sub startsub done insub",
        "agent general-purpose running Running d | sub startsub done insub2",
        "agent general-purpose completed Running d | sub startsub done insub2",
        "agent general-purpose completed sub done insub2 | sub startsub done insub2",
        "cost 60+404 $0.007189",
        "context 124/1000000",
        "over 1 completed end_turn $0.007189",
        "unasked: sub done insub2",
        "text done. Async agent launched successfully. (Th…",
        "cost 10+112",
        "cost 10+112 $0.002280",
        "context 122/1000000",
        "over -1 completed end_turn $0.002280",
    ]


def test_a_run_that_a_background_task_started_is_a_turn_of_its_own() -> None:
    assert digest(Replay("s11_bg_bash").facts) == [
        "renamed 5e840aef",
        "session claude-opus-5-5 default",
        "Bash started",
        "background_task d running d",
        "Bash completed Command running in background with ID: bjdjy…",
        "text started Command running in background with I…",
        "cost 20+108 $0.002240",
        "over 1 completed end_turn $0.002240",
        "background_task d completed d",
        'background_task d completed Background command "d" c…',
        'unasked: Background command "d" completed (exit code …',
        "text done. Command running in background with ID:…",
        "cost 10+59 $0.001220",
        "over -1 completed end_turn $0.001220",
        "Bash started",
        "background_task d running d",
        "Bash completed Command running in background with ID: bm2h8…",
        "text started Command running in background with I…",
        "cost 20+106 $0.002200",
        "over 2 completed end_turn $0.002200",
        "background_task d cancelled d",
        "background_task d cancelled d",
        "answered []",
        "answered []",
        "Bash started",
        "background_task d running d",
        "Bash completed Command running in background with ID: bicsa…",
        "text started Command running in background with I…",
        "cost 20+106 $0.002200",
        "over 3 completed end_turn $0.002200",
    ]


def test_tools_of_sub_agents_know_their_parent() -> None:
    assert digest(Replay("s11b_agent_stop").facts) == [
        "renamed b0d86ffc",
        "session claude-opus-5-5 default",
        "Agent started",
        "agent general-purpose running A1",
        "Agent started",
        "agent general-purpose running A2",
        "agent general-purpose running Running d",
        "Bash started in sub-agent",
        "Bash failed in sub-agent ! <tool_use_error>Blocked: standalone sleep …",
        "agent general-purpose running Running d",
        "Bash started in sub-agent",
        "agent general-purpose completed Running d",
        "agent general-purpose completed [harness: subagent outpu…",
        "Agent completed   <tools-used-before-summary>Bash</tools-use…",
        "Bash completed in sub-agent q",
        "agent general-purpose completed Running d",
        "agent general-purpose completed A2 finished",
        "Agent completed   <tools-used-before-summary>Bash</tools-use…",
        "text parent got   <tools-used-before-summary>Bash…",
        "cost 60+434 $0.008920",
        "over 1 completed end_turn $0.008920",
        "answered []",
    ]


def test_a_rate_limit_fails_the_turn_and_the_next_one_works() -> None:
    assert digest(Replay("s14_err_429").facts) == [
        "renamed 47e08ca2",
        "session claude-opus-5-5 default",
        "warning model API: rate_limit (429); attempt 1 of 2,…",
        "warning model API: rate_limit (429); attempt 2 of 2,…",
        "warning API Error: Request rejected (429) · slow dow…",
        "cost 0+0 $0.000000",
        "over 1 failed api_error $0.000000 API Error: Request rejected (429) · slow dow…",
        "text echo: next ok",
        "cost 10+10 $0.000240",
        "over 2 completed end_turn $0.000240",
    ]


def test_a_server_error_has_the_subtype_success_and_is_a_failure() -> None:
    assert digest(Replay("s14_err_500").facts) == [
        "renamed 9915b474",
        "session claude-opus-5-5 default",
        "warning model API: server_error (500); attempt 1 of …",
        "warning model API: server_error (500); attempt 2 of …",
        "warning API Error: 500 boom. This is a server-side i…",
        "cost 0+0 $0.000000",
        "over 1 failed api_error $0.000000 API Error: 500 boom. This is a server-side i…",
        "text echo: next ok",
        "cost 10+10 $0.000240",
        "over 2 completed end_turn $0.000240",
    ]


def test_a_fallback_changes_the_model() -> None:
    assert digest(Replay("s14c_fallback").facts) == [
        "renamed 2737efcd",
        "session claude-opus-5-5 default",
        "warning model API: overloaded (529); attempt 1 of 10…",
        "warning model API: overloaded (529); attempt 2 of 10…",
        "session claude-haiku-4-5",
        "warning Switched to Haiku 4.5 due to high demand for…",
        "text answered",
        "cost 10+9 $0.000055",
        "over 1 completed end_turn $0.000055",
    ]


def test_a_turn_runs_to_its_end_after_stdin_was_closed() -> None:
    assert digest(Replay("s16_close_midturn").facts) == [
        "renamed 8fc33886",
        "session claude-opus-5-5 default",
        "text abc abc abc abc abc abc abc abc abc abc abc …",
        "cost 10+47 $0.000980",
        "over 1 completed end_turn $0.000980",
    ]


def test_a_killed_process_leaves_its_turn_open() -> None:
    assert digest(Replay("s17_SIGKILL_tool").facts) == [
        "renamed 9a2ef9ad",
        "session claude-opus-5-5 default",
        "Bash started",
    ]


def test_a_fork_has_another_id_and_pays_only_for_its_own_turn() -> None:
    assert digest(Replay("s18_fork").facts) == [
        "renamed aeb89dfb",
        "session claude-opus-5-5 default",
        "text echo: forked",
        "cost 10+10 $0.000240",
        "over 1 completed end_turn $0.000240",
    ]


def test_a_fork_with_a_chosen_id_has_that_id() -> None:
    assert digest(Replay("s18_fork_id").facts) == [
        "renamed 2eadabfa",
        "session claude-opus-5-5 default",
        "text echo: forked",
        "cost 10+10 $0.000240",
        "over 1 completed end_turn $0.000240",
    ]


def test_a_first_turn_is_told_with_its_session() -> None:
    assert digest(Replay("s18_resume_1").facts) == [
        "renamed e5e05fe4",
        "session claude-opus-5-5 default",
        "text echo: remember 42",
        "cost 10+11 $0.000260",
        "over 1 completed end_turn $0.000260",
    ]


def test_calls_are_answered_between_turns() -> None:
    assert digest(Replay("s21_rewind").facts) == [
        "renamed 279d37b1",
        "session claude-opus-5-5 acceptEdits",
        "Read started",
        "Read completed 1\torig\n2\t",
        "Write started",
        "Write completed The file /sandbox/wd/p_rewind/a.txt has been…",
        "text got The file /sandbox/wd/p_rewind/a.txt has …",
        "cost 30+119 $0.002500",
        "over 1 completed end_turn $0.002500",
        "answered ['canRewind', 'deletions', 'filesChanged', 'insertions']",
        "answered ['canRewind', 'skippedLinks']",
        "answered No file checkpoint found for this message.",
    ]


def test_with_states_the_turn_ends_at_idle_and_holds_the_run_of_its_agent() -> None:
    assert digest(Replay("x01_session_state").facts) == [
        "renamed e86810ac",
        "session claude-opus-5-5 default",
        "Agent started",
        "agent general-purpose running A1",
        "Agent completed Async agent launched successfully. (This too…",
        "text parent done",
        "cost 20+87 $0.001820",
        "Bash started in sub-agent",
        "agent general-purpose running Running d",
        "Bash completed in sub-agent q",
        "agent general-purpose running Running d | A1 finished",
        "agent general-purpose completed Running d | A1 finished",
        "agent general-purpose completed A1 finished | A1 finished",
        "text done. Async agent launched successfully. (Th…",
        "cost 50+189 $0.003980",
        "over 1 completed end_turn $0.003980",
        "Write started",
        "asked Write allow_once allow_always reject_once",
        "Write started",
        "Write completed File created successfully at: /sandbox/wd/p1…",
        "text w",
        "cost 20+44 $0.000960",
        "over 2 completed end_turn $0.000960",
    ]


def test_agents_in_the_foreground_end_before_the_answer() -> None:
    assert digest(Replay("y10_disable_bg").facts) == [
        "renamed 126ad5f8",
        "session claude-opus-5-5 default",
        "Agent started",
        "agent general-purpose running A1",
        "Bash started",
        "agent general-purpose running Running d",
        "Bash started in sub-agent",
        "Bash completed in sub-agent q",
        "agent general-purpose completed Running d",
        "agent general-purpose completed A1 finished",
        "Agent completed   <tools-used-before-summary>Bash</tools-use…",
        "Bash failed ! <tool_use_error>InputValidationError: Bash…",
        "text parent done   <tools-used-before-summary>Bas…",
        "cost 40+259 $0.005340",
        "over 1 completed end_turn $0.005340",
    ]
