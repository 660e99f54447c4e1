"""A provider made with the SDK whose texts are as long as their names say."""

from extensor import Context, Identifier, Properties, Provider, ReadOnly, ResourceHandler

provider = Provider("large", "1.0.0")


class Text(Properties):
    name: Identifier[str]
    text: ReadOnly[str | None] = None


@provider.resource("text@1.0")
class TextHandler(ResourceHandler[Text]):
    def get(self, ctx: Context, wanted: Text) -> Text:
        return Text.model_construct(name=wanted.name, text="é" * int(wanted.name))


if __name__ == "__main__":
    provider.run()
