// Starts everything. What is shown is what the address names after its #.

async function start() {
  const head = document.querySelector("header");
  new ResizeObserver(() => document.documentElement.style.setProperty("--head", `${head.offsetHeight}px`)).observe(head);
  const data = await unpack(byId("bundle").textContent);
  const links = new Links(data);
  const graphs = (links.graphs = { boxes: [] }) && new Graphs(data, links);
  links.enter(fillListing(data));
  links.watch(graphs);
  links.reveal();
  watchPasses(data);
  watchTheme();
  const steps = new Steps(graphs);
  new Search(data, graphs);

  function follow() {
    const name = decodeURIComponent(location.hash.slice(1)), node = data.nodes.get(name);
    if (node) {
      graphs.find(node);
      byId("graph").scrollIntoView({ block: "nearest" });
      return;
    }
    const target = byId(name);
    if (target === null) return;
    const seed = links.seed(target);
    if (seed) {
      links.hold(seed, null);
      target.scrollIntoView({ block: "center" });
    } else if (steps.rows.includes(target)) steps.select(steps.rows.indexOf(target));
    else if (target.tagName === "DETAILS") target.open = true;
  }
  addEventListener("hashchange", follow);
  // A link to where one already is.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) follow();
  });
  follow();
  document.documentElement.classList.add("ready");
}

start();
