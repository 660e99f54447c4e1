"""The sample provider: notes, kept as text files."""
