"""Reports of a run: the model, and writers for each format."""
