// Where things are drawn: groups of nodes that are shown as one, and dagre's places for the rest.

const LETTER = 7.3; // the width of a letter
const LONGEST = 34; // letters of a label that are shown
const MANY = 40; // nodes beyond which a graph is shown by kernels at first
const THOROUGH = 500; // boxes beyond which dagre ranks them in a simpler way

const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

// The name of the group that a node is in, or null.
function groupOf(node, by) {
  if (by === "kernel") return node.tasks.length ? `task ${node.tasks[0]}` : null;
  if (by === "line") return node.args.length ? `line ${node.line}` : null;
  return null;
}

// The group of each node. What no kernel computes, such as inputs and views, goes with the one
// group that uses it.
function groupsOf(graph, by) {
  const groups = new Map();
  for (const node of [...graph.nodes].reverse()) {
    let group = groupOf(node, by);
    if (group === null && by === "kernel" && !node.result) {
      const using = new Set(node.users.map((user) => groups.get(user)));
      if (using.size === 1) [group] = using;
    }
    groups.set(node, group ?? null);
  }
  return groups;
}

// The boxes of a graph: nodes, and groups that are collapsed. Each has the nodes inside.
function boxesOf(graph, by, opened, data) {
  const groups = groupsOf(graph, by), members = new Map();
  for (const node of graph.nodes) {
    const group = groups.get(node);
    if (group !== null && !opened.has(group)) members.set(group, [...(members.get(group) ?? []), node]);
  }
  const boxes = new Map(), boxOf = new Map();
  for (const node of graph.nodes) {
    const inside = members.get(groups.get(node));
    const alone = inside === undefined || inside.length < 2;
    const id = alone ? node.id : `${graph.key} ${groups.get(node)}`;
    if (!boxes.has(id))
      boxes.set(id, alone ? nodeBox(node, by !== "node") : groupBox(id, groups.get(node), inside, data));
    boxOf.set(node, boxes.get(id));
  }
  const edges = new Map();
  for (const node of graph.nodes)
    for (const arg of node.args) {
      const from = boxOf.get(arg), to = boxOf.get(node);
      if (from !== to) edges.set(`${from.id}>${to.id}`, { from, to });
    }
  for (const { from, to } of edges.values()) {
    from.below.push(to);
    to.above.push(from);
  }
  return { boxes: [...boxes.values()], edges: [...edges.values()], boxOf, groups };
}

// A node: its label, and below it its type unless there is little room.
function nodeBox(node, isLow) {
  const label = cut(node.label), small = isLow ? "" : node.short;
  const width = Math.max(label.length, 0.82 * small.length) * LETTER + 16;
  return { id: node.id, nodes: [node], label, small, width, height: isLow ? 22 : 34, above: [], below: [] };
}

function groupBox(id, group, nodes, data) {
  const [kind, number] = group.split(" ");
  const label = cut(kind === "task" ? data.tasks[number].title : data.wheres[number]);
  const width = label.length * LETTER + 20;
  return { id, group, nodes, label, small: "", width, height: 22, above: [], below: [] };
}

// Gives each box its centre, each edge its points, and returns the size of the whole.
function place(boxes, edges) {
  const graph = new dagre.graphlib.Graph();
  const ranker = boxes.length > THOROUGH ? "longest-path" : "network-simplex";
  const gaps = boxes.some((box) => box.small)
    ? { nodesep: 14, edgesep: 6, ranksep: 30 } : { nodesep: 8, edgesep: 2, ranksep: 26 };
  graph.setGraph({ rankdir: "TB", ...gaps, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: box.width, height: box.height });
  for (const edge of edges) graph.setEdge(edge.from.id, edge.to.id);
  dagre.layout(graph);
  for (const box of boxes) Object.assign(box, (({ x, y }) => ({ x, y }))(graph.node(box.id)));
  for (const edge of edges) edge.points = graph.edge(edge.from.id, edge.to.id).points;
  // dagre counts no lines, which may run beside all boxes.
  const points = edges.flatMap((edge) => edge.points);
  const across = [...boxes.flatMap(({ x, width }) => [x - width / 2, x + width / 2]), ...points.map(({ x }) => x)];
  const down = boxes.flatMap(({ y, height }) => [y - height / 2, y + height / 2]);
  const extent = (all) => [all.reduce((a, b) => Math.min(a, b), Infinity) - 6, all.reduce((a, b) => Math.max(a, b), -Infinity) + 6];
  const [left, right] = across.length ? extent(across) : [0, 40], [top, bottom] = down.length ? extent(down) : [0, 40];
  return { left, top, width: right - left, height: bottom - top };
}

// A smooth line through points: straight to the first middle, then curves from middle to middle.
function curve(points) {
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let text = `M${at(points[0])}`;
  for (let i = 1; i < points.length - 1; i++)
    text += `Q${at(points[i])} ${at(middle(points[i], points[i + 1]))}`;
  return `${text}L${at(points.at(-1))}`;
}
