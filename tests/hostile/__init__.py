"""What attackers and accidents tried: each test is named for the finding it holds shut."""
