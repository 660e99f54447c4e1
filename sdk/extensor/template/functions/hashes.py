"""`uniqueString` and `guid`, as Azure Resource Manager computes them."""

import hashlib

_GUID_NAMESPACE = bytes.fromhex("11fb06fb712d4ddd98c7e71bbd588830")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_WORD = 0xFFFFFFFF


def guid(name: str) -> str:
    """The version-5 UUID (RFC 4122) of a name in the language's own name space."""
    hashed = bytearray(hashlib.sha1(_GUID_NAMESPACE + name.encode("utf-8"), usedforsecurity=False).digest()[:16])
    hashed[6] = hashed[6] & 0x0F | 0x50
    hashed[8] = hashed[8] & 0x3F | 0x80
    digits = hashed.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def unique_string(name: str) -> str:
    """Thirteen letters and digits from a 64-bit hash of the name."""
    value = _murmur64(name.encode("utf-8"))
    return "".join(_ALPHABET[(value >> shift if shift >= 0 else value << -shift) & 31] for shift in range(59, -6, -5))


def _murmur64(data: bytes) -> int:
    first = second = 0
    whole = len(data) - len(data) % 8
    for at in range(0, whole, 8):
        low = int.from_bytes(data[at : at + 4], "little")
        high = int.from_bytes(data[at + 4 : at + 8], "little")
        first ^= _mixed(low, 0x239B961B, 15, 0xAB0E9789)
        first = (_rotated(first, 19) + second) * 5 + 0x561CCD1B & _WORD
        second ^= _mixed(high, 0xAB0E9789, 17, 0x239B961B)
        second = (_rotated(second, 13) + first) * 5 + 0x0BCAA747 & _WORD
    tail = data[whole:]
    first ^= _mixed(int.from_bytes(tail[:4], "little"), 0x239B961B, 15, 0xAB0E9789)
    second ^= _mixed(int.from_bytes(tail[4:], "little"), 0xAB0E9789, 17, 0x239B961B)
    first ^= len(data)
    second ^= len(data)
    first = first + second & _WORD
    second = second + first & _WORD
    first, second = _finished(first), _finished(second)
    first = first + second & _WORD
    second = second + first & _WORD
    return second << 32 | first


def _mixed(word: int, before: int, rotation: int, after: int) -> int:
    return _rotated(word * before & _WORD, rotation) * after & _WORD


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _WORD


def _finished(word: int) -> int:
    word = (word ^ word >> 16) * 0x85EBCA6B & _WORD
    word = (word ^ word >> 13) * 0xC2B2AE35 & _WORD
    return word ^ word >> 16
