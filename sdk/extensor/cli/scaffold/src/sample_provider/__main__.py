"""`python -m sample_provider` serves the provider on its standard streams; ``--help`` tells what else it can do."""

import extensor

if __name__ == "__main__":
    extensor.run("sample_provider.provider:provider")
