// The graph of each Relax function.
const boxes = new Map(); // function and variable: rectangles
for (const graph of data.graphs) {
  const drawn = [...document.querySelectorAll("#graphs details")].find((each) => each.dataset.function === graph.function);
  const rectangles = drawn ? [...drawn.querySelectorAll("svg > rect")].slice(1) : [];
  rectangles.forEach((rectangle, k) => {
    const name = graph.boxes[k];
    if (!name) return;
    rectangle.classList.add("box");
    const key = graph.function + "\n" + name;
    boxes.set(key, rectangle);
    rectangle.dataset.variable = name;
    if (!bindings.has(key)) return;
    rectangle.setAttribute("tabindex", "0");
    rectangle.setAttribute("role", "button");
    rectangle.setAttribute("aria-label", name);
    const enter = () => into(key);
    rectangle.addEventListener("click", enter);
    rectangle.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); enter(); } });
  });
}
function into(key) {
  const first = bindings.get(key)[0];
  for (let e = first + 1; e < count && kindOf(e) !== BOUND; e++) if (kindOf(e) === CALL) { go(e); return; }
  go(first);
}
const bad = new Set();
for (const binding of data.bindings) if (binding.nan) bad.add(`${data.calls[binding.call].function}\n${binding.name}`);
let lit = null;
function light(path) {
  const here = path.findLast((event) => kindOf(event) === BIND);
  const box = here === undefined ? null : boxes.get(data.sites[site[here]].function + "\n" + data.sites[site[here]].name);
  if (lit === box) return;
  if (lit) lit.classList.remove("now");
  lit = box ?? null;
  if (!lit) return;
  lit.classList.add("now");
  const frame = lit.closest(".graph"), outer = frame.getBoundingClientRect(), inner = lit.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) frame.scrollTop += inner.top - outer.top - outer.height / 3;
  if (inner.left < outer.left || inner.right > outer.right) frame.scrollLeft += inner.left - outer.left - outer.width / 3;
}
for (const key of bad) boxes.get(key)?.classList.add("bad");
