"""Message classes by name, from a private descriptor pool.

Generated `*_pb2` modules register their messages in one pool for the whole process, where two
packages that ship the same message collide, and they demand a runtime at least as new as the
compiler. A descriptor set in a private pool does neither: tbprof lives beside any TensorFlow, JAX
and TensorBoard, with any protobuf runtime from 4.25 on.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

_DESCRIPTORS = Path(__file__).with_name("descriptors.pb")


@functools.cache
def message(name: str) -> Any:
    """The message class of a full name such as `xla.HloProto`; the same class on every call.

    Raises KeyError where `protos/` declares no such message, ImportError where the package was
    never built.
    """
    from google.protobuf import message_factory

    try:
        descriptor = _pool().FindMessageTypeByName(name)
    except KeyError:
        raise KeyError(f"no message {name!r} in {_DESCRIPTORS.name}") from None
    return message_factory.GetMessageClass(descriptor)


@functools.cache
def _pool() -> DescriptorPool:
    """A pool with only the messages of `protos/`; files precede those that import them."""
    from google.protobuf import descriptor_pool

    try:
        serialized = _DESCRIPTORS.read_bytes()
    except FileNotFoundError as error:
        raise ImportError(
            f"{_DESCRIPTORS} is missing: tbprof was copied, not installed. Run 'pip install .' "
            "(or 'make' in a checkout), which compiles protos/"
        ) from error
    pool = descriptor_pool.DescriptorPool()
    for file in _files(serialized):
        pool.AddSerializedFile(file)
    return pool


def _files(descriptor_set: bytes) -> Iterator[bytes]:
    """The serialized files of a FileDescriptorSet, which has a single field.

    Parsing it as a message takes 6 ms, since protobuf builds the descriptors of descriptors.
    """
    offset = 0
    while offset < len(descriptor_set):
        size, shift, more = 0, 0, True
        while more:  # a varint, after the tag
            offset += 1
            size |= (descriptor_set[offset] & 0x7F) << shift
            shift += 7
            more = descriptor_set[offset] >= 0x80
        yield descriptor_set[offset + 1 : offset + 1 + size]
        offset += 1 + size
