"""Foreign layouts, read into a paper's folder: what was taken from where, and what is kept from agents."""
