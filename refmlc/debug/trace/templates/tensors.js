// Tensors as heat maps.
const figures = new Map();
function figureOf(key) {
  if (!figures.has(key)) {
    const made = { figure: make("figure"), canvas: make("canvas"), caption: make("figcaption"), drawn: null };
    made.figure.append(made.canvas, made.caption);
    made.canvas.setAttribute("role", "img");
    made.canvas.addEventListener("mousemove", (event) => hover(made, event));
    made.canvas.addEventListener("click", (event) => { const address = addressAt(made, event); if (address !== null) toWriteOf(address); });
    made.canvas.addEventListener("mouseleave", () => { made.canvas.title = ""; });
    figures.set(key, made);
  }
  return figures.get(key);
}
function addressAt(made, event) {
  const seen = made.drawn, box = made.canvas.getBoundingClientRect();
  if (!seen) return null;
  const r = Math.floor(((event.clientY - box.top) / box.height) * seen.height), c = Math.floor(((event.clientX - box.left) / box.width) * seen.width);
  return r < 0 || c < 0 || r >= seen.height || c >= seen.width ? null : seen.address(r, c);
}
function hover(made, event) {
  const address = addressAt(made, event), seen = made.drawn;
  if (address === null) return;
  made.canvas.title = `${elementOf(address, [[seen.name, seen.row]]) || seen.name}: ${known[address] === 1 ? number(cells[address]) : known[address] ? "not known" : BARE}`;
}
const window_ = (extent, middle) => {
  const wide = Math.min(extent, WINDOW);
  return [Math.max(0, Math.min(extent - wide, middle - (wide >> 1))), wide];
};
function draw(name, row, all) {
  const one = data.tensors[row], made = figureOf(name + "\n" + row);
  const touched = all.filter((mark) => indexIn(one, mark.address));
  let focus = null;
  for (const mark of touched) focus = indexIn(one, mark.address) || focus;
  const rank = one.shape.length, where = focus || one.shape.map(() => 0);
  const across = rank ? one.shape[rank - 1] * one.lanes : one.lanes, down = rank > 1 ? one.shape[rank - 2] : 1;
  const [left, width] = window_(across, rank ? where[rank - 1] * one.lanes : 0);
  const [upper, height] = window_(down, rank > 1 ? where[rank - 2] : 0);
  let base = one.first;
  for (let axis = 0; axis < rank - 2; axis++) base += where[axis] * one.strides[axis] * one.lanes;
  const stepRow = rank > 1 ? one.strides[rank - 2] * one.lanes : 0, stepColumn = rank ? one.strides[rank - 1] * one.lanes : 0;
  const address = (r, c) => base + (upper + r) * stepRow + Math.floor((left + c) / one.lanes) * stepColumn + ((left + c) % one.lanes);
  made.drawn = { width, height, address, name, row };
  const counted = { nan: 0, inf: 0, none: 0, least: Infinity, most: -Infinity };
  if (one.first !== NOWHERE && width && height) {
    if (!look(made, width, height, address, touched)) return made.figure;
    count_(made, counted);
    paint(made, width, height, address, touched, counted);
  }
  const slice = rank > 2 ? ` [${where.slice(0, -2).join(", ")}, :, :]` : "";
  const range = (first, size) => `${first} … ${first + size - 1}`, columns = range(left / one.lanes, width / one.lanes);
  const cut = across > width || down > height ? `, of it ${rank > 1 ? `[${range(upper, height)}, ${columns}]` : `[${columns}]`}` : "";
  made.caption.replaceChildren(make("b", name), document.createTextNode(` ${shape(one)}${slice}${cut}`));
  const facts = [];
  if (one.first === NOWHERE) facts.push("too large to be shown");
  if (counted.least <= counted.most) facts.push(`${number(counted.least)} … ${number(counted.most)}`);
  if (counted.nan) facts.push(`${counted.nan} NaN`);
  if (counted.inf) facts.push(`${counted.inf} infinite`);
  if (counted.none) facts.push(`${counted.none} ${BARE}`);
  made.caption.append(make("div", facts.join(", "), "soft"));
  made.canvas.setAttribute("aria-label", `${name}: ${facts.join(", ")}`);
  return made.figure;
}
// What is to be drawn; whether it is something else than what is drawn already.
function look(made, width, height, address, touched) {
  const size = width * height, before = made.looked, at = touched.map((mark) => `${mark.address} ${mark.written}`).join();
  const here = { width, height, first: address(0, 0), at, values: new Float64Array(size), states: new Uint8Array(size) };
  for (let r = 0, k = 0; r < height; r++) for (let c = 0; c < width; c++, k++) {
    const a = address(r, c);
    here.states[k] = known[a];
    here.values[k] = known[a] === 1 ? cells[a] : 0;
  }
  made.looked = here;
  if (!before || before.width !== width || before.height !== height || before.first !== here.first || before.at !== at) return true;
  for (let k = 0; k < size; k++) if (before.states[k] !== here.states[k] || !same(before.values[k], here.values[k])) return true;
  return false;
}
function count_(made, counted) {
  const { values, states } = made.looked;
  for (let k = 0; k < values.length; k++) {
    const x = values[k];
    if (states[k] !== 1) counted.none += states[k] === 0;
    else if (x !== x) counted.nan++;
    else if (!Number.isFinite(x)) counted.inf++;
    else { if (x < counted.least) counted.least = x; if (x > counted.most) counted.most = x; }
  }
}
function paint(made, width, height, address, touched, counted) {
  const canvas = made.canvas, { values, states } = made.looked;
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
  const found = [];
  for (let k = e; k >= 0 && k > e - 32; k--) {
    const kind = kindOf(k);
    if (kind !== LOAD && kind !== STORE && kind !== FORGET) break;
    if (k < e && kind !== LOAD) break;
    found.push({ address: at[k], written: kind !== LOAD });
  }
  return found;
}
const more = make("p", "", "legend");
function showTensors(call, path, e) {
  const touched = touchedAt(e), known_ = call.tensors.filter(([, row]) => isThere(row, path, e));
  const last = known_.length - MOST;
  const chosen = known_.filter(([, row], k) => k >= last || touched.some((one) => indexIn(data.tensors[row], one.address)));
  const shown = chosen.map(([name, row]) => draw(name, row, touched));
  const box = $("tensors");
  if (known_.length > chosen.length) {
    const names = known_.filter((one) => !chosen.includes(one)).map(([name]) => name);
    const text = `${names.length} more: ${names.slice(0, 40).join(", ")}${names.length > 40 ? ", …" : ""}`;
    if (more.textContent !== text) more.textContent = text;
    shown.unshift(more);
  }
  if (shown.length !== box.children.length || shown.some((one, k) => one !== box.children[k])) box.replaceChildren(...shown);
}
const boundAt = new Map(); // call and name: the event where it is bound
for (const e of bounds) {
  const found = data.bindings[at[e]];
  for (const tensor of found.tensors) boundAt.set(`${found.call} ${tensor}`, Math.min(e, boundAt.get(`${found.call} ${tensor}`) ?? e));
}
function isThere(row, path, e) {
  const call = path.findLast((one) => kindOf(one) === CALL);
  const bound = call === undefined ? undefined : boundAt.get(`${at[call]} ${row}`);
  return bound === undefined || bound <= e;
}
