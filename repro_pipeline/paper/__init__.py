"""Read a paper, whatever its format, into one exact document."""
