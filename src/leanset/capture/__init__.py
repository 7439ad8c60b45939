"""From a network to the statistics of its head. Needs torch."""

import leanset.training  # noqa: F401  # first: without torch, its door says which extra to install
from leanset.capture.cost import network_seconds
from leanset.capture.locate import find_head
from leanset.capture.network import Network, network_statistics, trained_network
from leanset.capture.recording import Captured, capture_head, weights_of
from leanset.capture.settings import NetworkSettings, network_settings

__all__ = [
    "Captured",
    "Network",
    "NetworkSettings",
    "capture_head",
    "find_head",
    "network_seconds",
    "network_settings",
    "network_statistics",
    "trained_network",
    "weights_of",
]
