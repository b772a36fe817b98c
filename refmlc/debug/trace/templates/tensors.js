// Tensors as heat maps.
const figures = new Map();
function figureOf(key) {
  if (!figures.has(key)) {
    const view = { figure: make("figure"), canvas: make("canvas"), caption: make("figcaption"), drawn: null };
    view.figure.append(view.canvas, view.caption);
    view.canvas.setAttribute("role", "img");
    view.canvas.addEventListener("mousemove", (event) => hover(view, event));
    view.canvas.addEventListener("click", (event) => { const address = addressAt(view, event); if (address !== null) toWriteOf(address); });
    view.canvas.addEventListener("mouseleave", () => { view.canvas.title = ""; });
    figures.set(key, view);
  }
  return figures.get(key);
}
function addressAt(view, event) {
  const drawn = view.drawn, box = view.canvas.getBoundingClientRect();
  if (!drawn) return null;
  const r = Math.floor(((event.clientY - box.top) / box.height) * drawn.height), c = Math.floor(((event.clientX - box.left) / box.width) * drawn.width);
  return r < 0 || c < 0 || r >= drawn.height || c >= drawn.width ? null : drawn.address(r, c);
}
function hover(view, event) {
  const address = addressAt(view, event), drawn = view.drawn;
  if (address === null) return;
  view.canvas.title = `${elementOf(address, [[drawn.name, drawn.row]]) || drawn.name}: ${known[address] === 1 ? number(cells[address]) : known[address] ? "unknown" : UNINITIALISED}`;
}
const visibleRange = (extent, middle) => {
  const wide = Math.min(extent, WINDOW);
  return [Math.max(0, Math.min(extent - wide, middle - (wide >> 1))), wide];
};
function draw(name, row, all) {
  const tensor = data.tensors[row], view = figureOf(name + "\n" + row);
  const touched = all.filter((mark) => indexIn(tensor, mark.address));
  let focus = null;
  for (const mark of touched) focus = indexIn(tensor, mark.address) || focus;
  const rank = tensor.shape.length, where = focus || tensor.shape.map(() => 0);
  const across = rank ? tensor.shape[rank - 1] * tensor.lanes : tensor.lanes, down = rank > 1 ? tensor.shape[rank - 2] : 1;
  const [left, width] = visibleRange(across, rank ? where[rank - 1] * tensor.lanes : 0);
  const [upper, height] = visibleRange(down, rank > 1 ? where[rank - 2] : 0);
  let base = tensor.first;
  for (let axis = 0; axis < rank - 2; axis++) base += where[axis] * tensor.strides[axis] * tensor.lanes;
  const stepRow = rank > 1 ? tensor.strides[rank - 2] * tensor.lanes : 0, stepColumn = rank ? tensor.strides[rank - 1] * tensor.lanes : 0;
  const address = (r, c) => base + (upper + r) * stepRow + Math.floor((left + c) / tensor.lanes) * stepColumn + ((left + c) % tensor.lanes);
  view.drawn = { width, height, address, name, row };
  const counted = { nan: 0, inf: 0, none: 0, least: Infinity, most: -Infinity };
  if (tensor.first !== NOWHERE && width && height) {
    if (!look(view, width, height, address, touched)) return view.figure;
    countStates(view, counted);
    paint(view, width, height, address, touched, counted);
  }
  const slice = rank > 2 ? ` [${where.slice(0, -2).join(", ")}, :, :]` : "";
  const range = (first, size) => `${first} … ${first + size - 1}`, columns = range(left / tensor.lanes, width / tensor.lanes);
  const cut = across > width || down > height ? `, showing ${rank > 1 ? `[${range(upper, height)}, ${columns}]` : `[${columns}]`}` : "";
  view.caption.replaceChildren(make("b", name), document.createTextNode(` ${shape(tensor)}${slice}${cut}`));
  const facts = [];
  if (tensor.first === NOWHERE) facts.push("too large to show");
  if (counted.least <= counted.most) facts.push(`${number(counted.least)} … ${number(counted.most)}`);
  if (counted.nan) facts.push(`${counted.nan} NaN`);
  if (counted.inf) facts.push(`${counted.inf} infinite`);
  if (counted.none) facts.push(`${counted.none} ${UNINITIALISED}`);
  view.caption.append(make("div", facts.join(", "), "soft"));
  view.canvas.setAttribute("aria-label", `${name}: ${facts.join(", ")}`);
  return view.figure;
}
// Read the cells to draw; true if they differ from the cells drawn before.
function look(view, width, height, address, touched) {
  const size = width * height, before = view.looked, at = touched.map((mark) => `${mark.address} ${mark.written}`).join();
  const here = { width, height, first: address(0, 0), at, values: new Float64Array(size), states: new Uint8Array(size) };
  for (let r = 0, k = 0; r < height; r++) for (let c = 0; c < width; c++, k++) {
    const a = address(r, c);
    here.states[k] = known[a];
    here.values[k] = known[a] === 1 ? cells[a] : 0;
  }
  view.looked = here;
  if (!before || before.width !== width || before.height !== height || before.first !== here.first || before.at !== at) return true;
  for (let k = 0; k < size; k++) if (before.states[k] !== here.states[k] || !same(before.values[k], here.values[k])) return true;
  return false;
}
function countStates(view, counted) {
  const { values, states } = view.looked;
  for (let k = 0; k < values.length; k++) {
    const x = values[k];
    if (states[k] !== 1) counted.none += states[k] === 0;
    else if (x !== x) counted.nan++;
    else if (!Number.isFinite(x)) counted.inf++;
    else { if (x < counted.least) counted.least = x; if (x > counted.most) counted.most = x; }
  }
}
function paint(view, width, height, address, touched, counted) {
  const canvas = view.canvas, { values, states } = view.looked;
  const scale = Math.max(2, Math.floor(PIXELS / Math.max(width, height, 6)));
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d"), image = context.createImageData(width * scale, height * scale);
  const pixels = new Uint32Array(image.data.buffer), across = width * scale;
  const marks = new Map(), marked = [];
  for (const mark of touched) if (!marks.has(mark.address) || mark.written) marks.set(mark.address, mark.written);
  const span = counted.most - counted.least || 1;
  for (let r = 0; r < height; r++) for (let c = 0; c < width; c++) {
    const k = r * width + c, state = states[k], flat = state === 1 ? colour(values[k], counted.least, span) : 0;
    if (marks.size && marks.has(address(r, c))) marked.push([r, c, marks.get(address(r, c))]);
    for (let y = 0; y < scale; y++) for (let x = 0; x < scale; x++) {
      const bare = (x + y) % 4 === 0 ? 0xff888888 : state ? 0xffc8b8b8 : 0xffdddddd;
      pixels[(r * scale + y) * across + c * scale + x] = state === 1 ? flat : bare;
    }
  }
  context.putImageData(image, 0, 0);
  const rim = scale > 8 ? -1.5 : 2; // inside of large cells, around small ones
  context.lineWidth = 3;
  for (const [r, c, written] of marked) {
    context.strokeStyle = written ? "#d97706" : "#1a7f37";
    context.strokeRect(c * scale - rim, r * scale - rim, scale + 2 * rim, scale + 2 * rim);
  }
}
function colour(x, least, span) { // little-endian: alpha, blue, green, red
  if (x !== x) return 0xffd100d1;
  if (!Number.isFinite(x)) return 0xffc2c200;
  const t = (x - least) / span;
  const red = Math.round(247 - 214 * t), green = Math.round(251 - 145 * t), blue = Math.round(255 - 84 * t);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
function touchedAt(e) {
  const accesses = [];
  for (let k = e; k >= 0 && k > e - 32; k--) {
    const kind = kindOf(k);
    if (kind !== LOAD && kind !== STORE && kind !== FORGET) break;
    if (k < e && kind !== LOAD) break;
    accesses.push({ address: at[k], written: kind !== LOAD });
  }
  return accesses;
}
const more = make("p", "", "legend");
function showTensors(call, path, e) {
  const touched = touchedAt(e), present = call.tensors.filter(([, row]) => isThere(row, path, e));
  const last = present.length - MOST;
  const chosen = present.filter(([, row], k) => k >= last || touched.some((access) => indexIn(data.tensors[row], access.address)));
  const shown = chosen.map(([name, row]) => draw(name, row, touched));
  const box = $("tensors");
  if (present.length > chosen.length) {
    const names = present.filter((pair) => !chosen.includes(pair)).map(([name]) => name);
    const text = `${names.length} more: ${names.slice(0, 40).join(", ")}${names.length > 40 ? ", …" : ""}`;
    if (more.textContent !== text) more.textContent = text;
    shown.unshift(more);
  }
  if (shown.length !== box.children.length || shown.some((figure, k) => figure !== box.children[k])) box.replaceChildren(...shown);
}
const boundAt = new Map(); // call and name: the event where it is bound
for (const e of bounds) {
  const binding = data.bindings[at[e]];
  for (const tensor of binding.tensors) boundAt.set(`${binding.call} ${tensor}`, Math.min(e, boundAt.get(`${binding.call} ${tensor}`) ?? e));
}
function isThere(row, path, e) {
  const call = path.findLast((event) => kindOf(event) === CALL);
  const bound = call === undefined ? undefined : boundAt.get(`${at[call]} ${row}`);
  return bound === undefined || bound <= e;
}
