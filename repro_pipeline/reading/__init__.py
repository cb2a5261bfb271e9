"""A bundle's paper, read: its sources held against each other, and what people corrected in it."""
