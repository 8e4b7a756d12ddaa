"""The app's style sheet; all colours are of the theme."""

from typing import Final

CSS: Final = """
Screen { layout: vertical; }
#tabs { height: 1; background: $panel; padding: 0 1; display: none; }
#tabs.several { display: block; }
#panes { height: 1fr; }
#keys { height: 1; background: $panel; padding: 0 1; }
#small { display: none; height: 1fr; content-align: center middle; }

AvatarPane { height: 1fr; }
#header { height: 1; background: $panel; padding: 0 1; }
#middle { height: 1fr; overflow: hidden; }
#talk { width: 1fr; height: 1fr; padding: 0 0 0 1; }
#side { width: 42; padding: 0 1; border-left: solid $panel; overflow: hidden; }
#side.tight #thoughts { height: 4; }
.thoughtless #thoughts { display: none; }
#thoughts { height: 8; }
#activities-head { height: 1; }
#activities { height: 1fr; }
#counts { height: 2; }
#ask { display: none; border: round $warning; padding: 0 1; margin: 0 1; }
#headline { height: 1; padding: 0 1; }
#prompt { height: 3; border: round $primary; padding: 0 1; background: $surface; }
#prompt:focus { border: round $accent; }

.wide #side { width: 56; }
.side-hidden #side { display: none; }
.narrow #side { display: none; }
.narrow.side-shown #side { display: block; width: 1fr; border-left: none; }
.narrow.side-shown #talk { display: none; }
.short #prompt { height: 1; border: none; background: $boost; }

Screen.tiny > * { display: none; }
Screen.tiny > #small { display: block; }
"""
