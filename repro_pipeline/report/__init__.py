"""What people read of a reproduction: the HTML report, Markdown and text tables, the scoreboard."""
