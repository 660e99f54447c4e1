"""CIDR blocks."""

import re
from typing import TYPE_CHECKING

from extensor.contract.json import Json
from extensor.template.functions.table import Function, integer, text
from extensor.template.refusal import Refusal

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

_V4 = 4
_CIDR = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}\Z")


def _network(value: Json) -> "IPv4Network | IPv6Network":
    from ipaddress import ip_network

    written = text(value, "the block")
    try:
        if not _CIDR.match(written):
            raise ValueError
        return ip_network(written, strict=False)
    except ValueError:
        raise Refusal("the block is not written as in 10.0.0.0/16 or 2001:db8::/32") from None


def _parse(value: Json) -> Json:
    network = _network(value)
    found: dict[str, Json] = {"network": str(network.network_address), "netmask": str(network.netmask)}
    if network.version == _V4:
        found["broadcast"] = str(network.broadcast_address)
    few = network.prefixlen >= network.max_prefixlen - 1 or network.version != _V4
    found["firstUsable"] = str(network[0] if few else network[1])
    found["lastUsable"] = str(network[-1] if few else network[-2])
    found["cidr"] = network.prefixlen
    return found


def _subnet(value: Json, prefix: Json, index: Json) -> Json:
    network, bits, at = _network(value), integer(prefix, "the prefix"), integer(index, "the index")
    if not network.prefixlen <= bits <= network.max_prefixlen:
        raise Refusal(f"the prefix must be from {network.prefixlen} to {network.max_prefixlen}, not {bits}")
    if not 0 <= at < 2 ** (bits - network.prefixlen):
        raise Refusal(f"the block has {2 ** (bits - network.prefixlen)} subnets of that size; index {at} is outside")
    start = int(network.network_address) + (at << (network.max_prefixlen - bits))
    return f"{type(network.network_address)(start)}/{bits}"


def _host(value: Json, index: Json) -> Json:
    network, at = _network(value), integer(index, "the index")
    ends = 1 if network.version == _V4 and network.prefixlen < network.max_prefixlen - 1 else 0
    hosts = network.num_addresses - 2 * ends
    if not 0 <= at < hosts:
        raise Refusal(f"the block has {hosts} usable addresses; index {at} is outside")
    return str(network[at + ends])


FUNCTIONS = (
    Function("parseCidr", 1, 1, _parse),
    Function("cidrSubnet", 3, 3, _subnet),
    Function("cidrHost", 2, 2, _host),
)
