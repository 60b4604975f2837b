// The graphs: one is shown at a time, drawn when it is asked for.

const LARGEST = 1.15; // how much a small graph is magnified to fill its pane

class Graphs {
  constructor(data, links) {
    Object.assign(this, { data, links, scale: 1, box: null, drawn: new Map() });
    this.canvas = document.querySelector("#graph .canvas");
    this.note = make("p", { class: "graph-note" });
    this.canvas.before(this.note);
    this.opened = new Map(data.graphs.map((graph) => [graph, new Set()]));
    this.by = new Map(data.graphs.map((g) => [g, g.nodes.length > MANY ? "kernel" : "node"]));
    this.addTools();
    this.move();
    this.show(data.graphs[data.graphs[1]?.nodes.length ? 1 : 0]);
  }

  addTools() {
    const tools = document.querySelector(".tools");
    this.tabs = make("select", { "aria-label": "which graph" });
    this.data.graphs.forEach((graph, number) =>
      this.tabs.append(make("option", { value: number }, graph.title)));
    this.tabs.onchange = () => this.show(this.data.graphs[this.tabs.value]);
    this.how = make("select", { "aria-label": "collapse the nodes of each" });
    for (const [value, text] of [["node", "each node"], ["kernel", "collapsed by kernel"], ["line", "collapsed by line"]])
      this.how.append(make("option", { value }, text));
    this.how.onchange = () => {
      this.by.set(this.shown, this.how.value);
      this.opened.get(this.shown).clear();
      this.show(this.shown);
    };
    const zoom = make("span", { class: "zoom" });
    for (const [text, label, act] of [
      ["−", "smaller", () => this.zoom(1 / 1.25)], ["fit", "the whole graph", () => this.fit()],
      ["+", "larger", () => this.zoom(1.25)],
    ]) {
      const button = make("button", { type: "button", "aria-label": label, title: label }, text);
      button.onclick = act;
      zoom.append(button);
    }
    tools.append(this.tabs, this.how, zoom);
  }

  // Draws a graph anew; a box that was selected stays so if it is still there.
  show(graph) {
    this.shown = graph;
    this.tabs.value = this.data.graphs.indexOf(graph);
    this.how.value = this.by.get(graph);
    const found = boxesOf(graph, this.by.get(graph), this.opened.get(graph), this.data);
    this.size = place(found.boxes, found.edges);
    Object.assign(this, found);
    this.note.textContent = graph.folded
      ? `The ${graph.nodes.length.toLocaleString("en")} nodes nearest to the results are drawn; ` +
        `${graph.folded.toLocaleString("en")} are folded away, in nodes with dashed lines.`
      : "";
    this.svg = draw("svg", {
      viewBox: `${this.size.left} ${this.size.top} ${this.size.width} ${this.size.height}`, role: "group",
      "aria-label": `graph ${graph.title}, ${graph.nodes.length} nodes; arrow keys walk along it`,
    });
    for (const edge of this.edges) {
      edge.line = draw("path", { d: curve(edge.points), class: "edge" });
      this.svg.append(edge.line);
    }
    for (const box of this.boxes) this.svg.append(this.drawBox(box));
    this.boxes[0]?.element.setAttribute("tabindex", "0");
    this.canvas.replaceChildren(this.svg);
    this.fit();
    this.links.again();
  }

  drawBox(box) {
    const [node] = box.nodes, { width, height } = box;
    const kinds = ["node", box.group ? "group" : node.kind];
    for (const kind of ["result", "stored", "copied", "cut"])
      if (box.nodes.some((inside) => inside[kind])) kinds.push(kind);
    const said = box.group
      ? `${box.label}, ${box.nodes.length} nodes, collapsed`
      : `${node.label}, ${node.type}, ${this.data.wheres[node.line]}`;
    box.element = draw(
      "g",
      {
        id: box.id, class: kinds.join(" "), tabindex: "-1", role: "button", "aria-label": said,
        transform: `translate(${box.x.toFixed(1)},${box.y.toFixed(1)})`,
      },
      draw("title", {}, said),
      draw("rect", { x: -width / 2, y: -height / 2, width, height, rx: box.group ? 10 : 5 }),
      draw("text", { y: box.small ? -2 : 4 }, box.label),
    );
    if (box.small) box.element.append(draw("text", { y: 12, class: "type" }, box.small));
    box.element.onclick = () => this.select(box);
    box.element.ondblclick = () => this.toggle(box);
    box.element.onkeydown = (event) => this.key(event, box);
    return box.element;
  }

  boxFor(node) {
    if (node.graph !== this.shown) this.show(node.graph);
    return this.boxOf.get(node);
  }

  select(box) {
    this.mark(box);
    showFacts(this, box);
    this.links.hold({ kind: "nodes", nodes: box.nodes }, this.canvas);
  }

  mark(box) {
    for (const other of this.boxes) {
      other.element.classList.toggle("selected", other === box);
      other.element.setAttribute("tabindex", other === box ? "0" : "-1");
    }
    for (const { from, to, line } of this.edges)
      line.classList.toggle("near", from === box || to === box);
  }

  // Selects a node, wherever it is drawn, and brings it into view.
  find(node) {
    const box = this.boxFor(node);
    this.select(box);
    this.bring(box);
  }

  bring(box) {
    if (this.scale < 0.6) this.zoom(0.9 / this.scale);
    box.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const frame = this.canvas.getBoundingClientRect(), at = box.element.getBoundingClientRect();
    this.canvas.scrollBy(at.x + at.width / 2 - frame.x - frame.width / 2, at.y + at.height / 2 - frame.y - frame.height / 2);
  }

  // Opens a group, or closes that of a node.
  toggle(box) {
    const group = box.group ?? this.groups.get(box.nodes[0]);
    if (group === null) return;
    const opened = this.opened.get(this.shown), [node] = box.nodes;
    if (!opened.delete(group)) opened.add(group);
    this.show(this.shown);
    this.select(this.boxOf.get(node));
  }

  key(event, box) {
    const beside = (step) => {
      const row = this.boxes.filter((other) => Math.abs(other.y - box.y) < 4).sort((a, b) => a.x - b.x);
      return row[row.indexOf(box) + step];
    };
    const moves = {
      ArrowUp: () => box.above[0], ArrowDown: () => box.below[0],
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    };
    if (event.key in moves) {
      const next = moves[event.key]();
      if (next) {
        this.select(next);
        next.element.focus({ preventScroll: true });
        next.element.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    } else if (event.key === "Enter" || event.key === " ") {
      if (box.element.classList.contains("selected")) this.toggle(box);
      else this.select(box);
      this.boxes.find((other) => other.element.classList.contains("selected"))?.element.focus();
    } else return;
    event.preventDefault();
  }

  // --- how large it is drawn ----------------------------------------------------------------------

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    this.resize(Math.min(clientWidth / this.size.width, clientHeight / this.size.height, LARGEST));
  }

  resize(scale) {
    this.scale = scale;
    // A hair less than the pane: it would otherwise have scroll bars.
    this.svg.setAttribute("width", Math.floor(this.size.width * scale - 0.5));
    this.svg.setAttribute("height", Math.floor(this.size.height * scale - 0.5));
  }

  // Larger or smaller; a place of the pane, its middle unless one is named, stays where it is.
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const { canvas } = this;
    const scale = Math.min(4, Math.max(0.05, this.scale * factor)), by = scale / this.scale;
    const left = canvas.scrollLeft + x, top = canvas.scrollTop + y;
    this.resize(scale);
    canvas.scrollTo(left * by - x, top * by - y);
  }

  // The wheel scrolls, and with Ctrl zooms; dragging with a mouse moves.
  move() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const frame = canvas.getBoundingClientRect();
      this.zoom(event.deltaY > 0 ? 1 / 1.15 : 1.15, event.clientX - frame.x, event.clientY - frame.y);
    }, { passive: false });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 1 && event.pointerType === "mouse")
        canvas.scrollBy(-event.movementX, -event.movementY);
    });
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey) return;
      const act = { "+": () => this.zoom(1.25), "=": () => this.zoom(1.25), "-": () => this.zoom(0.8), 0: () => this.fit() }[event.key];
      if (act) act();
    });
    new ResizeObserver(() => this.fit()).observe(canvas);
  }
}

// --- what is said of a node -----------------------------------------------------------------------

function showFacts(graphs, box) {
  const { data } = graphs, [node] = box.nodes, rows = make("dl");
  const row = (name, ...parts) => parts.length && rows.append(make("dt", {}, name), make("dd", {}, ...parts));
  const link = (target, text) => make("a", { href: `#${target}` }, text);
  const listed = (items) => items.slice(0, 40).flatMap((item, i) => (i ? [", ", item] : [item]));
  const nodes = (found) => listed(found.map((other) => link(other.id, other.label)));
  const head = make("strong", {}, box.group ? `${box.label}: ${box.nodes.length} nodes` : node.label);
  const group = box.group ?? graphs.groups.get(node);
  const parts = [head];
  if (group !== null && (box.group || graphs.opened.get(graphs.shown).has(group))) {
    const button = make("button", { type: "button" }, box.group ? "open" : "collapse");
    button.onclick = () => graphs.toggle(box);
    parts.push(" ", button);
  }
  if (box.group) row("nodes", ...nodes(box.nodes));
  else {
    row("value", make("code", {}, node.value));
    row("type", make("code", {}, node.type));
    row("line", link(`line-${node.line}`, data.wheres[node.line]));
    row("from", ...nodes(node.args));
    row("used by", ...nodes(node.users));
    if (node.copied) row("memory", make("span", { class: "copied" }, node.copied));
    if (node.cut) row("folded", `${node.cut} of its arguments are not drawn`);
    if (node.made !== undefined) row("made by", link(`step-${node.made}`, data.rules[node.made]));
    row("replaced by", ...listed(node.replaced.map((step) => link(`step-${step}`, data.rules[step]))));
    row("also", ...listed(node.also.map((id) => link(id, data.nodes.get(id).graph.title))));
    row("inside", ...listed(node.inside.map((key) => {
      const inner = data.graphs.find((graph) => graph.key === key);
      return link(inner.nodes.at(-1).id, inner.title);
    })));
  }
  const tasks = [...new Set(box.nodes.flatMap((inside) => inside.tasks))];
  const how = box.group ? "" : node.stored ? " (kept in memory)" : " (computed in passing)";
  if (tasks.length) row("kernel", ...listed(tasks.map((t) => link(`task-${t}`, data.tasks[t].title))), how);
  byId("facts").replaceChildren(...parts, rows);
}
