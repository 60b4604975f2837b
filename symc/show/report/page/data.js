// The data of the page, and the few helpers that all parts use.

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// An element with attributes, and children that are elements or texts.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The same in the namespace of drawings, which only an element of that kind knows.
const DRAWINGS = (() => {
  const holder = document.createElement("div");
  holder.innerHTML = "<svg></svg>";
  return holder.firstChild.namespaceURI;
})();

function draw(name, attributes = {}, ...children) {
  const made = document.createElementNS(DRAWINGS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// What bundle.py packed.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(stream).text());
  data.nodes = new Map();
  for (const graph of data.graphs) {
    graph.nodes.forEach((node, number) => {
      Object.assign(node, { id: `${graph.key}-${number}`, graph, number, users: [] });
      for (const key of ["args", "tasks", "replaced", "also", "inside"]) node[key] ??= [];
      data.nodes.set(node.id, node);
    });
    for (const node of graph.nodes) {
      node.args = node.args.map((number) => graph.nodes[number]);
      for (const arg of node.args) arg.users.push(node);
    }
  }
  return data;
}
