"""Knows the verbs and nothing else."""

from wire import resource, serve

serve({"resource/save": lambda params, call: resource(params["properties"])}, handshake=None)
