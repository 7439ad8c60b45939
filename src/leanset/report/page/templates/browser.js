// The browser of rows with its filters, and the classes of the map.
const AT_ONCE = asCards ? 48 : 25;
const filters = document.getElementById("filters");
const wanted = { label: "", state: "", suspect: false, order: "row" };
const bounds = {};
let pageNumber = 0;

function choice(name, label, options) {
  const select = made("select", { name }, ...options.map(([value, text]) => made("option", { value }, text)));
  return made("label", {}, label, select);
}

function numberField(name, label) {
  return made("label", {}, label, made("input", { type: "number", name, step: "any" }));
}

function differing(key) {
  const known = (ITEMS[key] || []).filter((value, item) => value !== null && (key !== "weight" || ITEMS.kept[item]));
  return new Set(known).size > 1;
}

const every = [["", "all"], ...(ITEMS.groups || []).map((label, code) => [String(code), label])];
const measures = [["weight", "weight"], ["score", "score"], ["influence", "influence"], ["probability", "probability of its label"]].filter(([key]) => differing(key));
if (filters) {
  filters.append(choice("label", filters.dataset.group, every));
  filters.append(choice("state", "Kept or removed", [["", "both"], ["1", "kept"], ["0", "removed"]]));
  for (const [key, words] of measures) {
    filters.append(numberField(`${key}-low`, `Least ${words}`), numberField(`${key}-high`, `Largest ${words}`));
  }
  const orders = [["row", "row"], ...measures.flatMap(([key, words]) => [[`+${key}`, `${words}, lowest first`], [`-${key}`, `${words}, highest first`]])];
  filters.append(choice("order", "Order", orders));
  if (ITEMS.suspect.some(Boolean)) filters.append(made("label", { class: "tick" }, made("input", { type: "checkbox", name: "suspect" }), "suspect labels only"));
  filters.append(made("button", { type: "reset" }, "Reset"));
  filters.addEventListener("input", read);
  filters.addEventListener("reset", () => setTimeout(read));
  filters.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("earlier").addEventListener("click", () => turn(-1));
  document.getElementById("later").addEventListener("click", () => turn(1));
  read();
}

function read() {
  const values = new FormData(filters);
  wanted.label = values.get("label");
  wanted.state = values.get("state");
  wanted.suspect = values.has("suspect");
  wanted.order = values.get("order");
  for (const [key] of measures) bounds[key] = [values.get(`${key}-low`), values.get(`${key}-high`)].map((text) => (text === "" ? null : Number(text)));
  pageNumber = 0;
  show();
}

function inside(item) {
  if (!ITEMS.sampled[item]) return false;
  if (wanted.label !== "" && !ITEMS.group[item].includes(Number(wanted.label))) return false;
  if (wanted.state !== "" && ITEMS.kept[item] !== Number(wanted.state)) return false;
  if (wanted.suspect && !ITEMS.suspect[item]) return false;
  return Object.entries(bounds).every(([key, [low, high]]) => {
    if (low === null && high === null) return true;
    const value = ITEMS[key][item];
    if (value === null || (key === "weight" && !ITEMS.kept[item])) return false; // a removed row has no weight
    return (low === null || value >= low) && (high === null || value <= high);
  });
}

function ordered(items) {
  if (wanted.order === "row") return items;
  const sign = wanted.order[0] === "-" ? -1 : 1;
  const column = ITEMS[wanted.order.slice(1)];
  const known = items.filter((item) => column[item] !== null);
  return known.sort((a, b) => sign * (column[a] - column[b])).concat(items.filter((item) => column[item] === null));
}

function show() {
  const found = ordered(ITEMS.row.map((_, item) => item).filter(inside));
  const pages = Math.max(1, Math.ceil(found.length / AT_ONCE));
  pageNumber = Math.max(0, Math.min(pageNumber, pages - 1));
  const here = found.slice(pageNumber * AT_ONCE, (pageNumber + 1) * AT_ONCE);
  document.getElementById("found").textContent = found.length === 1 ? "1 row" : `${found.length.toLocaleString("en")} rows`;
  document.getElementById("page-number").textContent = `page ${pageNumber + 1} of ${pages}`;
  document.getElementById("earlier").disabled = pageNumber === 0;
  document.getElementById("later").disabled = pageNumber === pages - 1;
  const grid = made("div", { class: `grid${asCards ? (ITEMS.text ? " texts" : "") : " rows"}` });
  if (asCards) grid.append(...here.map((item) => cardOf([item], "")));
  else grid.append(tableOf(here.map((item) => [item]), null, "Rows"));
  document.getElementById("rows").replaceChildren(grid);
}

function turn(by) {
  pageNumber += by;
  show();
}

const mapClass = document.getElementById("map-class");
function showMap() {
  const points = ITEMS.row.map((_, item) => ({ x: ITEMS.x[item], y: ITEMS.y[item], set: ITEMS.kept[item] ? "kept" : "removed", item }));
  const some = points.filter(({ item }) => mapClass.value === "" || ITEMS.group[item].includes(Number(mapClass.value)));
  views.map?.data("points", some).runAsync();
}
if (mapClass) {
  mapClass.append(...every.map(([value, text]) => made("option", { value }, text)));
  mapClass.addEventListener("input", showMap);
  document.addEventListener("drawn", showMap);
}
