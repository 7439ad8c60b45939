"""How a source is read."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from leanset._options import Checked, Option
from leanset._rules import a_text, at_least, names, one_of
from leanset.parsing import words_in
from leanset.settings.panels import READING


@dataclass(frozen=True, kw_only=True, eq=False)  # options may be arrays, which have no single truth value
class ReadingOptions(Checked):
    """How a source is read."""

    panel: ClassVar[str] = READING
    decides: ClassVar[bool] = False

    on_bad_image: Annotated[
        str,
        Option(
            "what to do if an image cannot be read: 'stop', or 'skip' it",
            rule=one_of("stop", "skip"),
        ),
    ] = "stop"
    image_size: Annotated[
        int | None, Option("side in pixels to scale images to; 224 if not given and sizes differ", rule=at_least(1))
    ] = None
    label_column: Annotated[
        str | None,
        Option("label column of a table (parquet, csv, jsonl, hf, a frame); a usual name if not given", rule=a_text),
    ] = None
    weight_column: Annotated[
        str | None,
        Option(
            "column of a table that says how much each row counts, as scikit-learn's sample_weight; if not given, "
            "sample_weight, where there is such a column",
            rule=a_text,
        ),
    ] = None
    image_column: Annotated[
        str | None,
        Option("image column of a parquet or hf source; a usual name if not given", rule=a_text),
    ] = None
    feature_columns: Annotated[
        Sequence[str] | None,
        Option(
            "columns of a table to use as features, e.g. age,height; if not given, the column of number lists, or else "
            "all columns that are nothing else",
            rule=names,
            read=words_in,
        ),
    ] = None
    drop: Annotated[
        Sequence[str],
        Option("columns of a table to leave out, e.g. date,name", rule=names, read=words_in, shown="none"),
    ] = ()
    text_column: Annotated[
        str | None,
        Option("column of texts in a table, which become features by TF-IDF and its 100 main directions", rule=a_text),
    ] = None
    text_model: Annotated[
        str | os.PathLike[str] | None,
        Option("folder of a sentence-transformers model that turns the texts into features instead"),
    ] = None
    id_column: Annotated[
        str | None,
        Option("column of a table that names the rows, for kept.csv; a usual name if not given", rule=a_text),
    ] = None
