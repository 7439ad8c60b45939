from torch import nn

from leanset._errors import InputError


def find_head(model: nn.Module, name: str | None = None) -> tuple[str, nn.Linear]:
    """Return the name and the layer of a network's head: the named layer, or the last linear one.

    Parameters
    ----------
    model : any network
    name : as in `model.named_modules()`

    Examples
    --------
    >>> find_head(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))[0]
    '2'
    """
    linear = _linear_layers(model)
    if name is None:
        if not linear:
            raise InputError(
                f"{type(model).__name__} has no linear layer that could be its head. leanset needs a network whose last "
                "layer is `nn.Linear`."
            )
        return list(linear.items())[-1]
    if name in linear:
        return name, linear[name]
    modules = dict(model.named_modules())
    what = f"is a {type(modules[name]).__name__}, not a linear layer" if name in modules else "is not a module"
    raise InputError(
        f"`head={name!r}` {what} of this {type(model).__name__}; its linear layers: {listed_layers(model)}."
    )


def listed_layers(model: nn.Module) -> str:
    """Return the names and sizes of a network's linear layers, for a message."""
    layers = _linear_layers(model).items()
    return ", ".join(f"`{path}` ({layer.in_features} → {layer.out_features})" for path, layer in layers) or "none"


def _linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    return {path: layer for path, layer in model.named_modules() if isinstance(layer, nn.Linear)}
