"""Compute the head statistics of a network. Needs torch."""

import leanset.training  # noqa: F401  # first, because without torch it says which extra to install
from leanset.capture.cost import ExampleSeconds, example_seconds, network_seconds
from leanset.capture.locate import find_head
from leanset.capture.network import Network, network_statistics, trained_network
from leanset.capture.recording import Captured, as_two_classes, capture_head, digest_of, weights_of
from leanset.capture.settings import NetworkSettings, network_settings

__all__ = [
    "Captured",
    "ExampleSeconds",
    "Network",
    "NetworkSettings",
    "as_two_classes",
    "capture_head",
    "digest_of",
    "example_seconds",
    "find_head",
    "network_seconds",
    "network_settings",
    "network_statistics",
    "trained_network",
    "weights_of",
]
