"""What imbalanced-learn asks a sampler about itself, in the form of its own tags but without importing it."""

from dataclasses import dataclass, fields
from typing import Any

from sklearn.utils import InputTags, Tags


@dataclass(slots=True)
class SamplerTags:
    """Whether a sampler says which rows it took."""

    sample_indices: bool = True


@dataclass(slots=True)
class SamplerInputTags(InputTags):
    """Which data a sampler takes."""

    dataframe: bool = True


@dataclass(slots=True)
class TagsOfSampler(Tags):
    """The tags of a sampler."""

    sampler_tags: SamplerTags | None = None


def sampler_tags(plain: Tags) -> TagsOfSampler:
    """Turn the tags of an estimator into those of a sampler that needs targets and takes sparse matrices and frames."""
    tags = TagsOfSampler(**_values(plain), sampler_tags=SamplerTags())
    tags.input_tags = SamplerInputTags(**_values(plain.input_tags))
    tags.input_tags.sparse = True
    tags.estimator_type = "sampler"
    tags.target_tags.required = True
    tags.target_tags.multi_output = True
    return tags


def _values(tags: Any) -> dict[str, Any]:
    return {item.name: getattr(tags, item.name) for item in fields(tags)}
