from leanset.head.loss import Loss
from leanset.head.sigmoid import Sigmoid
from leanset.head.softmax import Softmax
from leanset.head.squared import Squared

LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Softmax, Sigmoid, Squared)}
