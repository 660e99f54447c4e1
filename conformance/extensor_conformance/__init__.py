"""The conformance kit for providers in any language: ``Run(Settings(Subject.of_command("…"))).execute()``."""
