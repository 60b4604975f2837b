"use strict";
// Panning, zooming, and showing one graph and one node at a time. Everything that can be shown is
// an element with an id, so what is shown is what the address names behind its #.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const graphs = all(".graph");

// --- graphs ---------------------------------------------------------------------------------------

function showGraph(graph) {
  for (const other of graphs) other.classList.toggle("hidden", other !== graph);
  for (const button of all(".tabs button"))
    button.classList.toggle("selected", button.dataset.graph === graph.id);
}

function addTabs() {
  const tabs = document.createElement("p");
  tabs.className = "tabs";
  for (const graph of graphs) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = graph.dataset.title;
    button.dataset.graph = graph.id;
    button.addEventListener("click", () => showGraph(graph));
    tabs.append(button);
  }
  graphs[0].before(tabs);
  showGraph(graphs[0]);
}

// The part of a drawing that is seen, as {x, y, width, height}.
function seen(svg) {
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  return { x, y, width, height };
}

function look(svg, box) {
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
}

// Zooms by a factor around a point of the drawing, which stays where it is.
function zoomed(box, factor, x, y) {
  return {
    x: x - (x - box.x) * factor,
    y: y - (y - box.y) * factor,
    width: box.width * factor,
    height: box.height * factor,
  };
}

// How many units of the drawing a pixel of the screen is.
function unitsPerPixel(svg) {
  const box = seen(svg), frame = svg.getBoundingClientRect();
  return Math.max(box.width / frame.width, box.height / frame.height) || 1;
}

const WIDE = 1000; // units of a drawing that can be read side by side

function movable(svg) {
  let from = null, moved = false;
  const whole = seen(svg);
  if (whole.width > WIDE || whole.height > WIDE / 2) {
    const width = Math.min(whole.width, WIDE);
    const x = whole.x + (whole.width - width) / 2;
    look(svg, { x, y: whole.y, width, height: Math.min(whole.height, WIDE / 2) });
  }
  svg.addEventListener("dblclick", () => look(svg, whole));
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = seen(svg), frame = svg.getBoundingClientRect(), unit = unitsPerPixel(svg);
    const x = box.x + box.width / 2 + (event.clientX - frame.left - frame.width / 2) * unit;
    const y = box.y + box.height / 2 + (event.clientY - frame.top - frame.height / 2) * unit;
    look(svg, zoomed(box, event.deltaY > 0 ? 1.2 : 1 / 1.2, x, y));
  });
  svg.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY, box: seen(svg), unit: unitsPerPixel(svg) };
    moved = false;
  });
  svg.addEventListener("pointermove", (event) => {
    if (from === null || event.buttons === 0) return;
    const dx = event.clientX - from.x, dy = event.clientY - from.y;
    moved = moved || Math.abs(dx) + Math.abs(dy) > 4;
    if (moved)
      look(svg, { ...from.box, x: from.box.x - dx * from.unit, y: from.box.y - dy * from.unit });
  });
  svg.addEventListener("pointerup", () => (from = null));
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => {
    if (moved) event.preventDefault(); // the end of a movement is no click
  });
}

// Moves a drawing so that a node is in the middle, at a size that can be read.
function centre(node) {
  const svg = node.ownerSVGElement, box = seen(svg);
  const [x, y] = node.firstElementChild.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  const width = Math.min(box.width, WIDE), height = (box.height * width) / box.width;
  look(svg, { x: x - width / 2, y: y - height / 2, width, height });
}

function selectNode(node, move) {
  const graph = node.closest(".graph");
  showGraph(graph);
  for (const other of all(".node.selected, .about.shown", graph))
    other.classList.remove("selected", "shown");
  node.classList.add("selected");
  document.getElementById(`about-${node.id}`).classList.add("shown");
  graph.querySelector(".hint").classList.add("hidden");
  for (const edge of all(".edge", graph))
    edge.classList.toggle("near", edge.dataset.ends.split(" ").includes(node.id));
  if (move) centre(node);
}

// --- rewrites -------------------------------------------------------------------------------------

const steps = all("#steps li");
let current = -1;

// Shows a rewrite, and in the graphs the nodes that it replaced and made.
function selectStep(number) {
  if (number < 0 || number >= steps.length) return;
  if (current >= 0) steps[current].classList.remove("selected");
  current = number;
  steps[number].classList.add("selected");
  steps[number].scrollIntoView({ block: "nearest" });
  for (const place of all("a.place", steps[number]))
    selectNode(document.getElementById(place.hash.slice(1)), true);
}

// --- what the address names -----------------------------------------------------------------------

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  if (target.classList.contains("about")) {
    selectNode(document.getElementById(target.id.slice("about-".length)), false);
  } else if (target.classList.contains("node")) {
    selectNode(target, true);
    target.closest(".graph").scrollIntoView({ block: "center" });
  } else if (steps.includes(target)) {
    selectStep(steps.indexOf(target));
  }
}

addTabs();
for (const graph of graphs) movable(graph.querySelector("svg"));
steps.forEach((step, number) => step.addEventListener("click", () => selectStep(number)));
if (steps.length) {
  document.getElementById("previous-step").addEventListener("click", () => selectStep(current - 1));
  document.getElementById("next-step").addEventListener("click", () => selectStep(current + 1));
}
// A click on a node must not make the page jump to where its description would be.
for (const node of all(".node"))
  node.addEventListener("click", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    history.replaceState(null, "", `#about-${node.id}`);
    selectNode(node, false);
  });
addEventListener("hashchange", follow);
follow();
