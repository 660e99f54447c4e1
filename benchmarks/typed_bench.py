"""A typed call of 1 KiB: beside an asyncio StreamReader echo, and 64 in flight beside gRPC aio with JSON.

Run it: ``python benchmarks/typed_bench.py [ROUNDS]``. The provider validates the request against its type, calls a
handler, validates the answer and writes it; the echo does nothing, and gRPC's handler parses and writes JSON.
"""

import sys

from pydantic import Field
from rpc_bench import request_line, round_trip, throughput

from extensor import Context, Identifier, Properties, Provider, ResourceHandler, run

provider = Provider("typed", "1.0.0")
COMMAND = [sys.executable, __file__, "--serve"]
PARAMS = {
    "import": {"provider": "typed", "version": "1.0.0", "config": {}},
    "type": "server@1.0",
    "properties": {
        "name": "web-1",
        "size": 4,
        "labels": {f"label{number}": "x" * 24 for number in range(8)},
        "disks": [{"name": f"disk{number}", "size": number, "path": "/srv/" + "p" * 40} for number in range(6)],
    },
}


class Disk(Properties):
    name: str
    size: int = 1
    path: str | None = None


class Server(Properties):
    name: Identifier[str]
    size: int = 1
    labels: dict[str, str] = Field(default_factory=dict)
    disks: list[Disk] = Field(default_factory=list)


@provider.resource("server@1.0")
class ServerHandler(ResourceHandler[Server]):
    async def save(self, ctx: Context, desired: Server) -> Server:
        return desired


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    line = request_line("resource/save", PARAMS)
    echo = round_trip(COMMAND, line=line, rounds=rounds)
    print(f"typed call of {len(line)} bytes / asyncio StreamReader echo     {echo:6.2f}  <= 2.0")
    rate = throughput(COMMAND, method="resource/save", params=PARAMS, rounds=rounds)
    print(f"typed calls, 64 in flight / gRPC aio with JSON          {rate:6.2f}  >= 3")


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        sys.argv[1:] = []
        run(provider)
    else:
        main()
