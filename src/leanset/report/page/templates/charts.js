// Every chart of the page, drawn as SVG with the colours of the look.
const DATA = parsed("data");
const views = {};
const axis = { labelColor: "var(--soft)", titleColor: "var(--soft)", gridColor: "var(--line)", domainColor: "var(--line)", tickColor: "var(--line)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelOverlap: true, gridOpacity: 0.6 };
const config = {
  background: null,
  font: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  view: { stroke: null },
  axis,
  axisX: { tickCount: 6 },
  legend: { labelColor: "var(--text)", labelFontSize: 12, symbolSize: 90, columnPadding: 14 },
};

async function draw(id, spec) {
  const place = document.getElementById(id);
  if (!place) return;
  const options = { actions: false, renderer: "svg", config };
  if (id === "map") options.tooltip = mapTip;
  const whole = { ...spec, autosize: { type: "fit", contains: "padding" } };
  const { view } = await vegaEmbed(place, whole, options);
  views[id] = view;
}

function mapTip(handler, event, item, value) {
  document.getElementById("tip")?.remove();
  if (value === null || value === undefined || value === "") return;
  const tip = made("div", { id: "tip", role: "presentation" }, exampleOf(Number(value)));
  document.body.append(tip);
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - width - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - height - 8)}px`;
}

// Charts in parts that are closed have no width yet, so all are drawn once the page is laid out.
const drawn = Promise.all(Object.entries(DATA.charts || {}).map(([id, spec]) => draw(id, spec)));
drawn.then(() => { root.dataset.drawn = "yes"; document.dispatchEvent(new Event("drawn")); });
