"""What the paper leaves unsaid, and what the works that it builds upon say about it."""
