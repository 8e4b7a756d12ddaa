"""The warden: the helper program that owns agent processes, written with the standard library only.

    host ──▶ anchor ──▶ server ──▶ keeper ──▶ agent ──▶ its tools
             └─────── warden ───┘  one per agent

Each of anchor, server and keeper adopts what is orphaned below it, so no process of an agent can
leave its keeper's tree, and the death of any one of them is made good by the one above.
"""

LEASE_COOKIE = "AVATAR_LEASE"
# In the environment of anchor, server and keepers: the host they serve. No agent inherits it.
WARDEN_COOKIE = "AVATAR_WARDEN"

__all__ = ["LEASE_COOKIE", "WARDEN_COOKIE"]
