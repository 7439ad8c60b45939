// The slider: what another budget would remove and cost.
const EXTRA = parsed("extra");
const slider = document.getElementById("size");

function showSize() {
  const size = EXTRA.sizes[Number(slider.value)];
  const title = size.is_chosen ? `${size.title}: this run` : size.title;
  const sentence = size.words.join("; ");
  document.getElementById("size-words").replaceChildren(made("b", {}, title), `${sentence[0].toUpperCase()}${sentence.slice(1)}.`);
  slider.setAttribute("aria-valuetext", size.title);
  for (const [id, view] of Object.entries(views)) {
    if (id.startsWith("frontier-")) view.data("shown", [{ removed: size.percent }]).runAsync();
  }
}

if (slider) {
  slider.addEventListener("input", showSize);
  showSize();
  document.addEventListener("drawn", showSize);
}
