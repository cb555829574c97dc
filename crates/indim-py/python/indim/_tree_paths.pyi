import dataclasses
from collections.abc import Sequence
from typing import Any

@dataclasses.dataclass(frozen=True)
class SequenceKey:
    idx: int

@dataclasses.dataclass(frozen=True)
class DictKey:
    key: Any

@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    name: str

@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    key: int

def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str: ...
