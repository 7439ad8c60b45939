// Which lines the charts show: at most seven at a time, chosen by the reader.
const MOST = 7;

function choose(fieldset) {
  const boxes = [...fieldset.querySelectorAll("input")];
  const chosen = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  for (const box of boxes) box.disabled = !box.checked && chosen.size >= MOST;
  for (const place of document.querySelectorAll(`[data-of="${fieldset.dataset.part}"]`)) {
    const lines = DATA.lines[place.id].filter((point) => chosen.has(point.method));
    views[place.id]?.data("lines", lines).runAsync();
  }
}

for (const fieldset of document.querySelectorAll(".methods")) {
  fieldset.addEventListener("input", () => choose(fieldset));
  choose(fieldset);
  document.addEventListener("drawn", () => choose(fieldset));
}
