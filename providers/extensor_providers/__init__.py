"""Sample providers built on the public names of extensor."""
