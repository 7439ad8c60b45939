// How one row is shown: its picture, its text, or the cells of its table; and the galleries.
const ITEMS = DATA.items || { row: [] };
const THUMBS = parsed("thumbs");
const MISSING = "–";
function shortNumber(value) {
  if (value === null) return MISSING;
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}
const labelOf = (item) => ITEMS.labels[ITEMS.label[item]];
const stateOf = (item) => made("span", { class: `state ${ITEMS.kept[item] ? "kept" : "removed"}` }, ITEMS.kept[item] ? "kept" : "removed");

function pictureOf(item) {
  const code = THUMBS[EXTRA.places[item]];
  if (!code) return made("div", { class: "absent" }, "picture left out");
  const words = `row ${ITEMS.row[item]}, ${labelOf(item)}, ${ITEMS.kept[item] ? "kept" : "removed"}`;
  return made("img", { src: `data:image/webp;base64,${code}`, alt: words });
}

function exampleOf(item) {
  const example = made("div", { class: "example" });
  if (EXTRA.pictures) example.append(pictureOf(item));
  if (ITEMS.text) example.append(made("blockquote", {}, ITEMS.text[item]));
  example.append(made("p", {}, made("b", {}, labelOf(item)), " ", stateOf(item)));
  const weight = ITEMS.kept[item] && ITEMS.weight[item] !== 1 ? `, weight ${shortNumber(ITEMS.weight[item])}` : "";
  example.append(made("p", { class: "said" }, `row ${ITEMS.row[item]}${weight}`));
  if (ITEMS.name) example.append(made("p", { class: "file" }, ITEMS.name[item]));
  return example;
}

function cardOf(items, caption) {
  const examples = items.map(exampleOf);
  const inside = items.length > 1 ? made("div", { class: "pair" }, ...examples) : examples[0];
  return made("div", { class: "card" }, inside, caption ? made("p", { class: "said" }, caption) : null);
}

function tableOf(groups, captions, name) {
  const head = ["row", "label", "state", ...(captions ? ["why"] : []), "weight", "influence"];
  if (ITEMS.name) head.push("name");
  head.push(...(ITEMS.columns || []));
  const body = made("tbody");
  groups.forEach((items, k) => items.forEach((item, nth) => {
    const why = captions ? [nth === 0 ? captions[k] : "its neighbour"] : [];
    const cells = [ITEMS.row[item], labelOf(item), stateOf(item), ...why, ITEMS.kept[item] ? shortNumber(ITEMS.weight[item]) : MISSING, shortNumber(ITEMS.influence[item])];
    if (ITEMS.name) cells.push(ITEMS.name[item]);
    if (ITEMS.cells) cells.push(...ITEMS.cells[item].map(shortNumber));
    body.append(made("tr", nth > 0 ? { class: "second" } : {}, ...cells.map((cell) => made("td", {}, cell))));
  }));
  const table = made("table", {}, made("thead", {}, made("tr", {}, ...head.map((word) => made("th", { scope: "col" }, word)))), body);
  return made("div", { class: "scroll", role: "region", "aria-label": name, tabindex: "0" }, table);
}

const asCards = Boolean(EXTRA.pictures || ITEMS.text);
for (const place of document.querySelectorAll("[data-gallery]")) {
  const gallery = EXTRA.galleries[Number(place.dataset.gallery)];
  if (!asCards) {
    place.classList.add("rows");
    place.append(tableOf(gallery.items, gallery.captions, gallery.title));
    continue;
  }
  if (gallery.items[0].length > 1) place.classList.add("pairs");
  if (ITEMS.text) place.classList.add("texts");
  gallery.items.forEach((items, k) => place.append(cardOf(items, gallery.captions[k])));
}
