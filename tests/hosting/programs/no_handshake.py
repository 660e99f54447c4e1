"""Knows the verbs and nothing else."""

from wire import resource, serve

serve({"resource/save": lambda params, id: resource(params["properties"])}, handshake=None)
