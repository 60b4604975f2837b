// The assembly, the passes, the rewrites, and light or dark.

function fillListing(data) {
  const listing = byId("listing"), blocks = [];
  if (data.noCode) listing.append(make("p", { class: "faint" }, data.noCode));
  for (const [name, rows] of data.code) {
    const block = make("div", { class: "block" }, make("h3", {}, name));
    block.style.containIntrinsicSize = `auto ${rows.length * 19 + 20}px`;
    const elements = rows.map(([line, text]) => {
      const element = make("p", { "data-c": line || "" }, text);
      block.append(element);
      return { element, line };
    });
    listing.append(block);
    blocks.push({ rows: elements });
  }
  return blocks;
}

// A pass, when it is opened for the first time.
function fillPass(part, rows) {
  const sides = part.querySelector(".sides");
  if (sides.childElementCount) return;
  sides.append(make("div", { class: "title" }, "before"), make("div", { class: "title" }, "after"));
  for (const [kind, before, after] of rows) {
    if (kind === "...") {
      sides.append(make("div", { class: "gap" }, "⋯"));
      continue;
    }
    const [old, fresh] = kind === "=" ? ["", "same-new"] : ["old", "new"];
    sides.append(
      make("div", { class: before === null ? "empty" : old }, before ?? ""),
      make("div", { class: after === null ? "empty" : fresh }, after ?? ""),
    );
  }
}

function watchPasses(data) {
  for (const part of all(".pass"))
    part.addEventListener("toggle", () => fillPass(part, data.passes[Number(part.id.slice(5))]));
}

// Rewrites one by one: each is shown with the nodes that it replaced and made.
class Steps {
  constructor(graphs) {
    Object.assign(this, { graphs, rows: all("#steps li"), current: -1 });
    this.rows.forEach((row, number) => (row.onclick = (event) => {
      if (!event.target.closest("a")) this.select(number);
    }));
    if (this.rows.length) {
      byId("previous-step").onclick = () => this.select(this.current - 1);
      byId("next-step").onclick = () => this.select(this.current + 1);
    }
  }

  select(number) {
    if (number < 0 || number >= this.rows.length) return;
    this.rows[this.current]?.classList.remove("selected");
    this.current = number;
    const row = this.rows[number];
    row.classList.add("selected");
    row.scrollIntoView({ block: "nearest" });
    for (const place of all("a.place", row)) {
      const node = this.graphs.data.nodes.get(place.hash.slice(1));
      if (node) this.graphs.find(node);
    }
  }
}

function watchTheme() {
  const button = byId("theme"), root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => (button.textContent = isDark() ? "light" : "dark");
  button.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  };
  system.addEventListener("change", name);
  name();
}
