// What belongs together: the user's lines, nodes, the C and the assembly, each found from each.

class Links {
  constructor(data) {
    this.data = data;
    this.held = null; // what was clicked
    this.spanOf = new Map(); // by line of the C
    this.spansOf = new Map(); // by node
    for (const [first, last, places, lines] of data.spans) {
      const nodes = places.map((place) => data.nodes.get(place));
      const span = { first, last, nodes, lines: new Set([...lines, ...nodes.map((node) => node.line)]) };
      for (let line = first; line <= last; line++) this.spanOf.set(line, span);
      for (const node of nodes) this.spansOf.set(node, [...(this.spansOf.get(node) ?? []), span]);
    }
    this.spans = [...new Set(this.spanOf.values())];
    this.rows = []; // of the assembly: {element, line, owner}
  }

  // The rows of the assembly. Those of a helper's lines belong to the line that they stand at.
  enter(blocks) {
    for (const { rows } of blocks) {
      let owner = 0;
      for (const row of rows) {
        if (this.spanOf.has(row.line)) owner = row.line;
        this.rows.push({ ...row, owner });
        row.element.row = this.rows.at(-1);
      }
    }
  }

  // At first the texts show the first kernel, not what every file begins with.
  reveal() {
    for (const element of [byId(`c${this.spans[0]?.first}`), this.rows.find((row) => row.owner)?.element]) {
      const pane = element?.closest(".code");
      pane?.scrollTo(0, element.offsetTop - pane.offsetTop - 40);
    }
  }

  // All that belongs to something: sets of nodes, numbers of lines, lines of the C.
  closure({ kind, nodes = [], line = 0 }) {
    if (kind === "nodes") {
      const every = nodes.flatMap((node) => [node, ...node.also.map((id) => this.data.nodes.get(id))]);
      const spans = every.flatMap((node) => this.spansOf.get(node) ?? []);
      return this.whole(new Set(every), new Set(nodes.map((node) => node.line)), spans);
    }
    if (kind === "line") {
      const own = [...this.data.nodes.values()].filter((node) => node.line === line);
      const spans = this.spans.filter((span) => span.lines.has(line));
      return this.whole(new Set(own), new Set([line]), spans);
    }
    const span = this.spanOf.get(line); // of the C
    if (span === undefined) return { nodes: new Set(), lines: new Set(), rows: new Set([line]) };
    // A line that no instruction is for, such as a comment, stands for those around it.
    const isExact = this.rows.some((row) => row.line === line || row.owner === line);
    const found = this.whole(new Set(span.nodes), span.lines, [span]);
    return isExact ? { ...found, rows: new Set([line]) } : found;
  }

  whole(nodes, lines, spans) {
    const rows = new Set();
    for (const { first, last } of spans) for (let line = first; line <= last; line++) rows.add(line);
    return { nodes, lines, rows };
  }

  light(found) {
    for (const element of this.lit ?? []) element.classList.remove("lit");
    this.lit = [];
    if (found === null) return;
    const add = (element) => {
      if (!element) return;
      element.classList.add("lit");
      this.lit.push(element);
    };
    for (const box of this.graphs.boxes)
      if (box.nodes.some((node) => found.nodes.has(node))) add(box.element);
    for (const line of found.lines) add(byId(`line-${line}`));
    for (const line of found.rows) add(byId(`c${line}`));
    for (const { element, line, owner } of this.rows)
      if (found.rows.has(line) || found.rows.has(owner)) add(element);
  }

  point(seed, from) {
    document.body.classList.remove("held");
    this.light(this.closure(seed));
    this.follow(from);
  }

  hold(seed, from) {
    this.held = seed;
    document.body.classList.add("held");
    this.light(this.closure(seed));
    this.follow(from);
  }

  // Back to what is held, when the pointer leaves.
  again() {
    document.body.classList.toggle("held", this.held !== null);
    this.light(this.held && this.closure(this.held));
  }

  release() {
    this.held = null;
    this.again();
  }

  // Scrolls the other panes to what is lit, unless some of it is in view there.
  follow(from) {
    for (const pane of all("#lines .code, #source .code, #assembly .code, #graph .canvas")) {
      if (pane === from) continue;
      const frame = pane.getBoundingClientRect();
      const lit = this.lit.filter((element) => pane.contains(element));
      const inView = (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return bottom > frame.top + 18 && top < frame.bottom - 4;
      };
      if (lit.length && !lit.slice(0, 400).some(inView)) {
        const at = lit[0].getBoundingClientRect();
        pane.scrollBy({ top: at.top - frame.top - frame.height / 4 });
      }
    }
  }

  // What an element under the pointer stands for.
  seed(target) {
    const box = target.closest(".node");
    if (box) return { kind: "nodes", nodes: this.graphs.boxes.find((b) => b.element === box)?.nodes ?? [] };
    const row = target.closest("#lines .row[id], #source p, #listing p");
    if (!row) return null;
    if (row.row) return { kind: "c", line: row.row.owner || row.row.line };
    return row.id.startsWith("line-")
      ? { kind: "line", line: Number(row.id.slice(5)) }
      : { kind: "c", line: Number(row.id.slice(1)) };
  }

  watch(graphs) {
    this.graphs = graphs;
    const explorer = byId("explorer");
    let last = null;
    explorer.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch" || event.buttons) return;
      const over = event.target.closest(".node, .row[id], .source p");
      if (over === last) return;
      last = over;
      const seed = over && this.seed(over);
      if (seed) this.point(seed, over.closest(".code, .canvas"));
      else this.again();
    });
    explorer.addEventListener("pointerleave", () => {
      last = null;
      this.again();
    });
    explorer.addEventListener("click", (event) => {
      const over = event.target.closest(".row[id], .source p");
      if (over && !event.target.closest("a")) this.hold(this.seed(over), over.closest(".code"));
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.release();
    });
    for (const row of all("#lines .row[id]")) {
      row.tabIndex = 0;
      row.setAttribute("role", "button");
      row.onfocus = () => row.matches(":focus-visible") && this.point(this.seed(row), row.closest(".code"));
      row.onkeydown = (event) => event.key === "Enter" && this.hold(this.seed(row), row.closest(".code"));
    }
  }
}
