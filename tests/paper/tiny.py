"""The paper's experiments in miniature."""

from leanset.evaluate.bench import LEANSET, STRATIFIED, UNIFORM
from leanset.paper.scale import Scale
from leanset.training.recipe import Recipe

TINY = Scale(
    per_class=20,
    scorer="lenet",
    recipe=Recipe(epochs=1, lr=0.02, batch_size=16, crop=0),
    methods=(STRATIFIED, "el2n", LEANSET),
    fractions=(0.4,),
    seeds=2,
    step_methods=(STRATIFIED,),
    step_fractions=(0.4,),
    theory_fractions=(0.4,),
    transfer_scorer="lenet",
    transfer_models=("convnet-1-32-relu-none-max",),
    transfer_methods=(STRATIFIED, LEANSET),
    transfer_fractions=(0.4,),
    speed_epochs=(2,),
    speed_fractions=(0.4,),
    search_designs=3,
    search_multiply_adds=300_000,
    search_map_entries=9_000,
    search_per_class=5,
    search_methods=(UNIFORM, LEANSET),
    search_epochs=2,
    search_whole_epochs=1,
    search_seeds=1,
    noise_methods=(STRATIFIED, LEANSET),
    noise_fractions=(0.4,),
)
