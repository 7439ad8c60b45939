from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from leanset._kinds import check_kinds, kinds_of

_MOST_LISTED = 12  # columns, after which the others are counted


@dataclass(frozen=True)
class Origin:
    """Where examples come from, and what each column of a table was used for.

    Attributes
    ----------
    source : as the user wrote it; "" for data in memory
    reading : the options that it was read with
    root : the folder that the names of image files start from; "" if the examples are no files
    label, weight, image, text, id : columns of a table; "" for none
    features : columns that became features
    left_out : columns that were not used

    Examples
    --------
    >>> Origin(label="price", id="id", features=("age", "size"), left_out=("date",)).sentence()
    'Features: age, size. Label: price. Names of the rows: id. Left out: date.'
    """

    source: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    root: str = ""
    label: str = ""
    weight: str = ""
    image: str = ""
    text: str = ""
    id: str = ""
    features: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Say which columns of a table were used for what; "" for data without columns."""
        parts = {
            "Features": listed(self.features),
            "Images": self.image,
            "Texts": self.text,
            "Label": self.label,
            "Weight": self.weight,
            "Names of the rows": self.id,
            "Left out": listed(self.left_out),
        }
        return " ".join(f"{what}: {columns}." for what, columns in parts.items() if columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Origin":
        """Rebuild it from `to_dict`; unknown keys of later versions are ignored."""
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        check_kinds(known, kinds_of(cls), "source.json")
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**known | lists)


def listed(names: Sequence[str], most: int = _MOST_LISTED) -> str:
    """Join names for a sentence; of many, the first ones and the number of the others.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
