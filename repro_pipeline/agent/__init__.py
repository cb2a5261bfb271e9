"""From the blinded paper, or from given code, to an implementation that can be run and scored."""
