"""What was found out about a paper, frozen: what execution leaves and evaluation reads."""
