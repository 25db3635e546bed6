"""The little of protobuf's wire format that editing descriptors takes: messages as lists of (field, wire type, value)."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def write_varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def parse(data):
    """Splits an encoded message into its fields; the order is kept, so that join(parse(x)) == x."""
    fields, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind == BYTES:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind} of field {number} is not used by descriptors")
        fields.append((number, kind, value))
    if at != len(data):
        raise ValueError("message ends inside a field")
    return fields


def join(fields):
    out = bytearray()
    for number, kind, value in fields:
        out += write_varint(number << 3 | kind)
        if kind == VARINT:
            out += write_varint(value)
        elif kind == BYTES:
            out += write_varint(len(value)) + value
        else:
            out += value
    return bytes(out)


def strings(fields, number):
    return [value.decode() for field, kind, value in fields if field == number and kind == BYTES]
