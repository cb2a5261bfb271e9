"""The reported values that are to be reproduced, and what must not be shown to who reproduces them."""
