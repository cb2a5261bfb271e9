"""Ask a language model: prompts, budget, recorded sessions, one attempt to repair a bad answer."""
