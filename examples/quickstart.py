"""Features and labels in, certified lean set out: the whole library in one call."""

from sklearn.datasets import load_digits

import leanset

features, labels = load_digits(return_X_y=True)
result = leanset.prune(
    features[:1300], labels[:1300], fraction=0.3, validation=(features[1300:], labels[1300:]), frontier=False
)
c = result.certificate
print(f"keep {len(result.kept)} rows, drop {len(result.removed)}; train with l2 = {c.train_l2:.2g}")
print(
    f"unchanged answers {c.validation_same_answers:.2%}; after a random removal {c.random_validation_same_answers:.2%}"
)
print(f"validation loss {c.validation_loss_gap:+.4f}; after a random removal {c.random_validation_loss_gap:+.4f}")
print(f"the head moves by {c.refit_change:.3f}; a random removal moves it by {c.random_refit_change_mean:.3f}")
assert c.refit_change < c.random_refit_change_mean
assert c.loss_above_random < 0
