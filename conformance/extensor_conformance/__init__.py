"""The conformance kit for providers in any language."""
