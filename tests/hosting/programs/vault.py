"""A provider made with the SDK: secrets with a write-only password, kept in the file named by the environment.

The first save of a secret named "once" is done, and ends the process before its answer; that of one named
"forever" takes as long, and "bug" is one.
"""

import asyncio
import json
import os
from pathlib import Path

from extensor import Context, Identifier, Properties, Provider, ReadOnly, ResourceHandler, WriteOnly

provider = Provider("vault", "2.1.0")
place = Path(os.environ["VAULT"])


class Secret(Properties):
    name: Identifier[str]
    owner: str = "nobody"
    password: WriteOnly[str]
    labels: dict[str, str] | None = None
    length: ReadOnly[int | None] = None


def load() -> dict[str, dict[str, object]]:
    return json.loads(place.read_text()) if place.exists() else {}


@provider.resource("secret@1.0")
class SecretHandler(ResourceHandler[Secret]):
    async def save(self, ctx: Context, desired: Secret) -> Secret:
        if desired.name == "forever":
            ctx.progress("waiting")
            await asyncio.Event().wait()
        if desired.name == "bug":
            return self.keep(desired, 1 // 0)
        return self.keep(desired)

    def keep(self, desired: Secret, more: int = 0) -> Secret:
        secrets = load()
        secrets[desired.name] = {
            "name": desired.name,
            "owner": desired.owner,
            "length": len(desired.password),
            "saves": secrets.get(desired.name, {}).get("saves", 0) + 1 + more,
        }
        place.write_text(json.dumps(secrets))
        if desired.name == "once":
            os._exit(9)
        return desired.model_copy(update={"length": len(desired.password)})

    def get(self, ctx: Context, wanted: Secret) -> Secret | None:
        found = load().get(wanted.name)
        if found is None:
            return None
        return Secret.model_construct(name=found["name"], owner=found["owner"], length=found["length"])


if __name__ == "__main__":
    provider.run()
