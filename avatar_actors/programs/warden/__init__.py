"""The warden: the helper program that owns agent processes, on the standard library alone.

    host ──▶ anchor ──▶ server ──▶ keeper ──▶ agent ──▶ its tools
             └─────── warden ───┘  one per agent

Anchor, server and keeper each adopt the orphans below them, so no process of an agent can leave
its keeper's tree, and each of them is replaced by the one above when it dies.
"""

LEASE_COOKIE = "AVATAR_LEASE"
# In the environment of anchor, server and keepers: the host they serve. No agent inherits it.
WARDEN_COOKIE = "AVATAR_WARDEN"

__all__ = ["LEASE_COOKIE", "WARDEN_COOKIE"]
