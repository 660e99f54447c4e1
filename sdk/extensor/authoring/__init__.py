"""The author's side: models, handlers, the provider, and the runtime that serves them.

Nothing is imported here: the names an author uses are in `extensor`, and a provider pays at its start only for what
it uses.
"""
