"""A reproduction in the forms of other tools: RO-Crate, PaperBench submission, capsule folder."""
