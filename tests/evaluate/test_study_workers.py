"""Studies whose jobs are shared by worker processes."""

import multiprocessing
import os
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from leanset._errors import LeansetError
from leanset.data import open_source
from leanset.data.encoded import LazyPixels
from leanset.evaluate import study as study_module
from leanset.evaluate.study import Study
from tests.evaluate.setups import tiny_setup
from tests.evaluate.test_study import JOBS, WHOLE, rows
from tests.training.networks import striped_images

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def lazy_images(tmp_path):
    """The images of `tiny_setup` in files that are decoded when asked for."""
    images = striped_images(48, held_out=24)
    for part, data in (("train", images), ("test", images.held_out)):
        for row, (pixels, label) in enumerate(zip(data.pixels, data.labels, strict=True)):
            place = tmp_path / "images" / part / f"{label}"
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.transpose(1, 2, 0)).save(place / f"{row:04d}.png")
    opened = open_source(f"folder:{tmp_path / 'images'}", memory=0)
    assert isinstance(opened.pixels, LazyPixels)
    return opened


def test_two_worker_processes_that_decode_files_find_what_one_finds_in_memory(lazy_images, tmp_path):
    eager = replace(
        lazy_images,
        pixels=lazy_images.pixels[np.arange(48)],
        held_out=replace(lazy_images.held_out, pixels=lazy_images.held_out.pixels[np.arange(24)]),
    )
    jobs = [*WHOLE[:2], JOBS[2], JOBS[3]]
    one, two = (Study(tiny_setup(images), tmp_path / name) for images, name in ((eager, "one"), (lazy_images, "two")))
    assert pickle.loads(pickle.dumps(two)).setup.identity() == two.setup.identity()
    one.run(jobs, workers=1)
    two.run(jobs, workers=2)
    assert rows(two, jobs) == rows(one, jobs)


@dataclass(frozen=True)
class Mortal(Study):
    """A study whose process ends, without a word, in the job of seed 1: the first one there, or every one."""

    marker: Path | None = None

    def _train(self, job, divergence_is_chance):
        if job.seed == 1 and (self.marker is None or not self.marker.exists()):
            if self.marker is not None:
                self.marker.touch()
            os._exit(9)
        return {"accuracy": 0.5}


def test_the_job_of_a_worker_that_dies_is_taken_over(tmp_path):
    study = Mortal(tiny_setup(), tmp_path / "table", marker=tmp_path / "died")
    study.run(WHOLE, workers=2)
    assert study.marker.exists()
    assert len(rows(study, WHOLE)) == 4


def test_a_study_whose_workers_all_die_does_not_end_in_silence(tmp_path):
    study = Mortal(tiny_setup(), tmp_path / "table")
    with pytest.raises(LeansetError) as caught:
        study.run(WHOLE[1:3], workers=2)
    said = str(caught.value)
    assert " of 2 trainings are not done" in said
    assert "9, 9" in said
    assert said.endswith(study.table.pending(WHOLE[1:3])[0].key)


def test_a_worker_stops_when_its_parent_is_gone(monkeypatch):
    def exited(code):
        raise SystemExit(code)

    monkeypatch.setattr(study_module.os, "_exit", exited)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    study_module._end_with_parent()  # nobody's worker
    gone, parent = multiprocessing.Pipe(duplex=False)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: SimpleNamespace(sentinel=gone))
    parent.close()
    with pytest.raises(SystemExit):
        study_module._end_with_parent()


def test_a_gpu_is_not_shared_by_default(monkeypatch):
    monkeypatch.setattr(study_module, "available_threads", lambda: 7)
    for cuda, mps in ((False, False), (True, False), (False, True)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        assert study_module._default_workers("cpu") == 7
        assert study_module._default_workers("auto") == (1 if cuda or mps else 7)
        assert study_module._default_workers("cuda") == study_module._default_workers("mps") == 1
