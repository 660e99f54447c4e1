"""The smallest provider worth having: it keeps notes as text files."""
