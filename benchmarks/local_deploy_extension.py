"""A do-nothing extension for `bicep local-deploy`: answers each resource with itself, over Bicep's own gRPC.

The protocol is that of docs/protocol.md, "bridges". The messages are described here by hand, since there is no protoc.
"""

import argparse
import asyncio

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_MESSAGES = {
    "Empty": {},
    "ResourceSpecification": {"config": 1, "type": 2, "apiVersion": 3, "properties": 4},
    "ResourceReference": {"identifiers": 1, "config": 2, "type": 3, "apiVersion": 4},
    "Resource": {"type": 1, "apiVersion": 2, "identifiers": 3, "properties": 4, "status": 5},
    "LocalExtensibilityOperationResponse": {"resource": (1, "Resource")},
}
_OPTIONAL = {"config", "apiVersion", "status"}


def _classes() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(name="extension.proto", package="extension", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number in fields.items():
            if isinstance(number, tuple):
                kind = {"type": _FIELD.TYPE_MESSAGE, "type_name": f".extension.{number[1]}"}
                number = number[0]
            else:
                kind = {"type": _FIELD.TYPE_STRING}
            added = message.field.add(name=field, number=number, label=_FIELD.LABEL_OPTIONAL, **kind)
            if field in _OPTIONAL:
                added.proto3_optional = True
                added.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"extension.{name}")) for name in _MESSAGES
    }


async def serve(address: str) -> None:
    """Answer on a Unix socket until the process is killed, as Bicep does it."""
    messages = _classes()
    answer = messages["LocalExtensibilityOperationResponse"]

    async def ping(request, context):
        return messages["Empty"]()

    async def save(request, context):
        reply = answer()
        reply.resource.type = request.type
        reply.resource.apiVersion = request.apiVersion
        reply.resource.identifiers = "{}"
        reply.resource.properties = request.properties
        return reply

    def method(behaviour, request):
        return grpc.unary_unary_rpc_method_handler(
            behaviour,
            request_deserializer=messages[request].FromString,
            response_serializer=lambda m: m.SerializeToString(),
        )

    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(
                "extension.BicepExtension",
                {
                    "Ping": method(ping, "Empty"),
                    "CreateOrUpdate": method(save, "ResourceSpecification"),
                    "Preview": method(save, "ResourceSpecification"),
                },
            ),
        )
    )
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--socket", required=True)
    asyncio.run(serve(f"unix:{parser.parse_args().socket}"))


if __name__ == "__main__":
    main()
