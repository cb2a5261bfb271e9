"""Does a value come from the computation? Pure readings of code, of traces, of responses, of claims."""
