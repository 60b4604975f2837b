// One search over nodes, lines, the C, the assembly, rewrites and kernels.

const MOST = 60; // places that are shown

class Search {
  constructor(data, graphs) {
    Object.assign(this, { data, graphs, field: byId("search"), list: byId("found") });
    this.field.oninput = () => this.look();
    this.field.onkeydown = (event) => {
      if (event.key === "Enter") this.list.querySelector("a")?.click();
      if (event.key === "ArrowDown") this.list.querySelector("a")?.focus();
      if (event.key === "Escape") this.close();
    };
    this.list.onkeydown = (event) => {
      const items = all("a", this.list), at = items.indexOf(document.activeElement);
      if (event.key === "ArrowDown") items[at + 1]?.focus();
      else if (event.key === "ArrowUp") (items[at - 1] ?? this.field).focus();
      else if (event.key === "Escape") this.close();
      else return;
      event.preventDefault();
    };
    this.list.onclick = () => setTimeout(() => this.list.classList.add("hidden"), 0);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input")) return;
      event.preventDefault();
      this.field.focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest(".search")) this.list.classList.add("hidden");
    });
  }

  close() {
    this.field.value = "";
    this.look();
    this.field.blur();
  }

  // Everything that can be found, as [kind, element, text].
  *places() {
    const { shown } = this.graphs;
    const others = this.data.graphs.filter((graph) => graph !== shown);
    for (const graph of [shown, ...others])
      for (const node of graph.nodes) yield ["node", node.id, `${node.label}  ${node.value}`];
    for (const row of all("#lines .row[id]")) yield ["line", row.id, row.textContent];
    for (const row of all("#kernels tr[id]")) yield ["kernel", row.id, row.cells[1].textContent.split("\n")[0]];
    for (const row of all("#steps li")) yield ["rewrite", row.id, row.textContent];
    for (const row of all("#source p")) yield ["C", row.id, row.textContent];
    for (const { element, owner, line } of this.graphs.links.rows)
      yield ["assembly", `c${owner || line}`, element.textContent];
  }

  look() {
    const words = this.field.value.trim().toLowerCase(), found = [], ids = new Set();
    if (words)
      for (const [kind, id, text] of this.places()) {
        if (!text.toLowerCase().includes(words)) continue;
        if (kind === "node") ids.add(id);
        if (found.length < MOST) found.push([kind, id, text]);
      }
    for (const box of this.graphs.boxes)
      box.element.classList.toggle("found", box.nodes.some((node) => ids.has(node.id)));
    this.list.replaceChildren(...found.map(([kind, id, text]) =>
      make("li", {}, make("a", { href: `#${id}` }, make("span", { class: "faint" }, kind), text.trim()))));
    if (words && !found.length) this.list.append(make("li", { class: "faint" }, "nothing"));
    this.list.classList.toggle("hidden", !words);
  }
}
