"""The folder of one trained network: settings, weights, and what is needed to continue after an interruption."""

import io
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol

import torch
from torch import nn

from leanset._errors import InputError, RunFolderError
from leanset._folder import Folder, in_words
from leanset.data import Dynamics
from leanset.training.checkpoint import load_weights, read_checkpoint, weights_in
from leanset.training.history import EpochLog, history_csv, history_from_csv
from leanset.training.recorder import Epoch

WEIGHTS, EARLY, LAST = "model.pt", "early.pt", "last.pt"
TRAINING, DYNAMICS, HISTORY = "training.json", "dynamics.npz", "history.csv"
EPOCHS, HEAD, RUN = "epochs", "head", "run-"


class Stateful(Protocol):
    """An object with a state that can be saved and restored."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state."""


class NetworkFolder(Folder):
    """Checkpoints during training, and the final files afterwards."""

    def open(self, identity: dict[str, Any], *, replace: bool = False) -> None:
        """Prepare the folder for a training with these settings. A network with other settings is refused or replaced.

        Only a new, empty or own folder is used, and only files that this class wrote are ever removed.
        """
        self.sweep(EPOCHS)
        if not self.has(TRAINING):
            if self.path.is_dir() and any(self.path.iterdir()):
                raise RunFolderError(
                    f"{self.path}: is in use for something else; choose an empty or new output folder."
                )
            self.write_json(TRAINING, identity)
            return
        if not (self.has(WEIGHTS) or self.has(LAST) or (self.path / HEAD).is_dir()):
            self._clear()  # an earlier training was stopped before it saved anything, or another was being replaced
            self.write_json(TRAINING, identity)
            return
        known = self.read_json(TRAINING)
        changed = sorted(key for key in known.keys() | identity.keys() if known.get(key) != identity.get(key))
        if not changed:
            if self.is_finished:
                self._remove_checkpoints()  # the training may have been killed just before it did
            return
        if not replace:
            raise RunFolderError(
                f"{self.path}: holds a network with other {in_words(changed)}; choose another output folder, or replace "
                "the network: `retrain=True` when pruning, `overwrite=True` when training."
            )
        self._clear()
        self.write_json(TRAINING, identity)

    def _clear(self) -> None:
        for folder in (self.path / EPOCHS, self.path / HEAD, *self.path.glob(f"{RUN}*")):
            shutil.rmtree(folder, ignore_errors=True)
        for name in (
            WEIGHTS,
            EARLY,
            LAST,
            DYNAMICS,
            HISTORY,
            TRAINING,
        ):  # the file that marks the folder as ours goes last
            (self.path / name).unlink(missing_ok=True)

    def further(self, nth: int) -> "NetworkFolder":
        """Return the folder of the nth of several runs; the first one is this folder."""
        return self if nth == 0 else NetworkFolder(self.path / f"{RUN}{nth}")

    @property
    def is_finished(self) -> bool:
        """Whether the final weights exist. They are written last."""
        return self.has(WEIGHTS)

    def keep_epoch(
        self,
        model: nn.Module,
        parts: Mapping[str, Stateful],
        history: list[EpochLog],
        pages: list[Epoch],
    ) -> None:
        """Save what the next epoch needs: the weights, and the state of the training's other parts by name."""
        if pages:
            self.write_arrays(f"{EPOCHS}/{len(history):04d}.npz", **pages[-1])
        logs = [asdict(log) for log in history]
        states = {name: part.state_dict() for name, part in parts.items()}
        self._write_tensors(LAST, {"model": model.state_dict(), "history": logs} | states)

    def keep_early(self, model: nn.Module) -> None:
        """Save the weights of an early epoch, which some scores need."""
        self._write_tensors(EARLY, {"weights": model.state_dict()})

    def resume(self, model: nn.Module, parts: Mapping[str, Stateful]) -> tuple[list[EpochLog], list[Epoch]]:
        """Load the last finished epoch into a network and the training's other parts; empty lists if there is none."""
        if not self.has(LAST):
            return [], []
        state = read_checkpoint(self.path / LAST)
        try:
            model.load_state_dict(weights_in({"weights": state["model"]}))
            for name, part in parts.items():
                part.load_state_dict(state[name])
            history = [EpochLog(**log) for log in state["history"]]
        except Exception as error:  # the states of optimisers are read by torch, which takes them as they are
            raise InputError(f"{self.path / LAST}: does not fit this network: {error}") from None
        names = [f"{EPOCHS}/{log.epoch:04d}.npz" for log in history]
        return history, [self.read_arrays(name) for name in names if self.has(name)]

    def finish(
        self, model: nn.Module, history: tuple[EpochLog, ...], dynamics: Dynamics | None, about: dict[str, Any]
    ) -> None:
        """Write the final files and remove the checkpoints. The weights come last: they mark a finished training."""
        self.write_text(HISTORY, history_csv(history))
        if dynamics is not None:
            self.write_arrays(DYNAMICS, **{name: getattr(dynamics, name) for name in Dynamics.names()})
        self._write_tensors(WEIGHTS, {"weights": model.state_dict(), **about})
        self._remove_checkpoints()

    def _remove_checkpoints(self) -> None:
        (self.path / LAST).unlink(missing_ok=True)
        shutil.rmtree(self.path / EPOCHS, ignore_errors=True)

    def load(self, model: nn.Module) -> tuple[Dynamics | None, tuple[EpochLog, ...]]:
        """Load the weights of a finished network. Returns its dynamics, if recorded, and its history."""
        load_weights(model, self.path / WEIGHTS)
        dynamics = self._dynamics() if self.has(DYNAMICS) else None
        return dynamics, history_from_csv(self.read_text(HISTORY))

    def _dynamics(self) -> Dynamics:
        arrays = self.read_arrays(DYNAMICS)
        if arrays.keys() != set(Dynamics.names()):
            raise RunFolderError(f"{self.path / DYNAMICS}: must contain {', '.join(Dynamics.names())}.")
        return Dynamics(**arrays)

    def _write_tensors(self, name: str, content: dict[str, Any]) -> None:
        buffer = io.BytesIO()
        torch.save(content, buffer)
        self.write_bytes(name, buffer.getvalue())
