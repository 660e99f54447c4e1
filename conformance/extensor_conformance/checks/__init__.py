"""The checks, one module for each group; `extensor_conformance.check.load_checks` finds every class that is marked."""
