"use strict";
// Moment e is just after kept event e. Everything that the program says becomes a text node, never HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const NOWHERE = 0xffffffff, WINDOW = 64, MOST = 12, PIXELS = 192;

  function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), found = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
    return found;
  }
  const site = new Uint32Array(bytesOf(data.columns.site).buffer);
  const at = new Uint32Array(bytesOf(data.columns.at).buffer);
  const value = new Float64Array(bytesOf(data.columns.value).buffer);
  const ints = new BigInt64Array(bytesOf(data.columns.ints).buffer);
  const steps = new BigUint64Array(bytesOf(data.columns.steps).buffer);
  const count = site.length;
  const stepOf = (e) => (steps.length ? Number(steps[e]) : e);
  const KINDS = ["call", "return", "bind", "bound", "iter", "block", "alloc", "load", "store", "forget", "fail"];
  const [CALL, RETURN, BIND, BOUND, ITER, BLOCK, ALLOC, LOAD, STORE, FORGET, FAIL] = KINDS.keys();
  const kinds = Uint8Array.from(data.sites, (one) => KINDS.indexOf(one.kind));
  const kindOf = (e) => kinds[site[e]];

  // ------------------------------------------------------------------------------------ what is around each event
  const parent = new Int32Array(count).fill(-1);
  const bindings = new Map(); // function and variable: the events where it begins
  const landmarks = [], bounds = [];
  let nan = -1, inf = -1;
  (() => {
    const open = new Int32Array(4096), depths = new Int32Array(4096), bases = [0];
    const depthOf = Int32Array.from(data.sites, (one) => one.depth);
    let top = 0;
    for (let e = 0; e < count; e++) {
      const kind = kindOf(e), depth = bases[bases.length - 1] + depthOf[site[e]];
      if (kind === RETURN || kind === BOUND) {
        while (top && depths[top - 1] > depth) top--;
        parent[e] = top ? open[top - 1] : -1;
        if (top && depths[top - 1] === depth) top--;
        if (kind === BOUND) bounds.push(e);
        if (kind === RETURN) bases.pop();
        else if (nan < 0 && data.bindings[at[e]].nan) nan = e;
        continue;
      }
      if (kind !== CALL) while (top && depths[top - 1] >= depth) top--;
      parent[e] = top ? open[top - 1] : -1;
      if (kind === CALL || kind === BIND || kind === ITER || kind === BLOCK) {
        if (kind === CALL) bases.push(top ? depths[top - 1] + 1 : 0);
        if (top < open.length) { open[top] = e; depths[top] = kind === CALL ? bases[bases.length - 1] : depth; top++; }
        if (kind === CALL || kind === BIND) landmarks.push(e);
        if (kind === BIND) {
          const one = data.sites[site[e]], key = one.function + "\n" + one.name;
          if (!bindings.has(key)) bindings.set(key, []);
          bindings.get(key).push(e);
        }
      } else if (kind === STORE) {
        const x = value[e];
        if (x !== x) { if (nan < 0) nan = e; }
        else if (inf < 0 && (x === Infinity || x === -Infinity)) inf = e;
      }
    }
  })();

  // ------------------------------------------------------------------------------------------ the cells at a moment
  let size = 0;
  for (const one of data.memories) if (one.base !== NOWHERE) size += one.cells;
  const cells = new Float64Array(size), known = new Uint8Array(size);
  const contents = data.contents;
  const every = Math.max(4096, Math.ceil(count / Math.max(1, Math.min(64, Math.floor(96e6 / (9 * size + 1))))));
  const checkpoints = [];
  let reached = 0, following = 0; // events that were applied; contents that were
  function fill(one) {
    const memory = data.memories[one.memory];
    if (memory.base === NOWHERE) return;
    if (one.values === null) { known.fill(2, memory.base, memory.base + memory.cells); return; }
    one.read ??= [new Float64Array(bytesOf(one.values).buffer), bytesOf(one.known)];
    cells.set(one.read[0], memory.base);
    known.set(one.read[1], memory.base);
  }
  function advance(end) {
    while (reached < end) {
      if (reached % every === 0 && !checkpoints[reached / every] && 9 * size < 32e6) {
        checkpoints[reached / every] = { cells: cells.slice(), known: known.slice(), following };
      }
      while (following < contents.length && contents[following].event <= reached) fill(contents[following++]);
      const kind = kindOf(reached), address = at[reached];
      if (kind === STORE) { if (address !== NOWHERE) { cells[address] = value[reached]; known[address] = 1; } }
      else if (kind === FORGET) { if (address !== NOWHERE) known[address] = 0; }
      else if (kind === ALLOC) {
        const memory = data.memories[data.tensors[address].memory];
        if (memory.base !== NOWHERE) known.fill(0, memory.base, memory.base + memory.cells);
      }
      reached++;
    }
    if (reached === count) while (following < contents.length) fill(contents[following++]);
  }
  function restore(e) {
    const far = e + 1;
    if (far < reached) {
      let number = Math.min(Math.floor(far / every), checkpoints.length - 1);
      while (number > 0 && !checkpoints[number]) number--;
      const found = checkpoints[number];
      if (found) { cells.set(found.cells); known.set(found.known); following = found.following; reached = number * every; }
      else { known.fill(0); cells.fill(0); following = 0; reached = 0; }
    }
    advance(far);
  }

  // ---------------------------------------------------------------------------------------------------- words
  // Where stores were omitted, a cell without a value may have been written by one of them.
  const BARE = data.sampling ? "uninitialised or omitted" : "uninitialised";
  const number = (x) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : Number.isFinite(x) ? String(Number(x.toPrecision(8))) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");
  const shape = (one) => `(${one.shape.join(", ")}) ${one.dtype}`;
  function pathOf(e) {
    const found = [];
    let here = kindOf(e) === CALL || kindOf(e) === BIND || kindOf(e) === ITER || kindOf(e) === BLOCK ? e : parent[e];
    for (; here >= 0; here = parent[here]) found.push(here);
    return found.reverse();
  }
  function axesOf(e) {
    return data.sites[site[e]].axes.map((name, i) => `${name} = ${ints[at[e] + i]}`).join(", ");
  }
  function elementOf(address, tensors) {
    for (const [name, row] of tensors) {
      const one = data.tensors[row], where = indexIn(one, address);
      if (where) return `${name}[${where.join(", ")}]`;
    }
    return null;
  }
  function indexIn(one, address) {
    if (one.first === NOWHERE || address < one.first) return null;
    let rest = Math.floor((address - one.first) / one.lanes);
    const where = one.shape.map(() => 0);
    const axes = one.shape.map((_, axis) => axis).sort((a, b) => one.strides[b] - one.strides[a]);
    for (const axis of axes) {
      if (one.shape[axis] > 1 && one.strides[axis] > 0) {
        where[axis] = Math.floor(rest / one.strides[axis]);
        rest -= where[axis] * one.strides[axis];
        if (where[axis] >= one.shape[axis]) return null;
      }
    }
    return rest ? null : where;
  }
  function told(e, tensors) {
    const one = data.sites[site[e]], kind = kindOf(e);
    switch (kind) {
      case CALL: return `${one.name} is called`;
      case RETURN: return `${one.name} returns`;
      case BIND: return `${one.name} is to be computed`;
      case BOUND: {
        const found = data.bindings[at[e]];
        return `${one.name} is ${found.text || "bound"}${found.nan ? `, ${found.nan} of ${found.count} NaN` : ""}${found.inf ? `, ${found.inf} infinite` : ""}`;
      }
      case ITER: return one.name === "while" ? "while: an iteration" : `${one.name} = ${value[e]}`;
      case BLOCK: return `block ${one.name}: ${axesOf(e)}`;
      case ALLOC: return `${one.name} is allocated`;
      case FAIL: return `the run ends: ${data.failure.code} ${data.failure.message}`;
      default: {
        const name = elementOf(at[e], tensors) || one.name;
        return kind === FORGET ? `${name} is undefined from here on` : kind === LOAD ? `${name} is read: ${number(value[e])}` : `${name} = ${number(value[e])}`;
      }
    }
  }
  function make(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }

  // ---------------------------------------------------------------------------------------------------- source
  const rows = [];
  let shownSource = -1, marked = null;
  function showSource(number) {
    if (number === shownSource) return;
    shownSource = number;
    marked = null;
    $("file").textContent = data.sources[number].name;
    const code = $("code");
    code.replaceChildren();
    rows.length = 0;
    const text = data.sources[number].text.replace(/\r\n?/g, "\n"), runs = data.runs[number];
    let row = null, offset = 0;
    const begin = () => {
      row = make("div", undefined, "row");
      const jump = make("button", String(rows.length + 1));
      const line = rows.length + 1;
      jump.tabIndex = -1;
      jump.addEventListener("click", () => toLine(line));
      row.append(jump, make("span", undefined, "text"));
      rows.push(row);
      code.append(row);
    };
    begin();
    for (let i = 0; i < runs.length; i += 2) {
      const parts = text.slice(offset, offset + runs[i + 1]).split("\n");
      offset += runs[i + 1];
      parts.forEach((part, k) => {
        if (k) begin();
        if (part) row.lastChild.append(make("span", part, runs[i]));
      });
    }
  }
  const lineOf = (e) => data.sites[site[e]].place;
  function toLine(line) {
    for (let k = 1; k <= count; k++) {
      const e = (now + k) % count, place = lineOf(e);
      if (place && place[0] === shownSource && place[1] === line) { go(e); return; }
    }
  }
  function markLine(place) {
    if (!place) return;
    showSource(place[0]);
    const row = rows[place[1] - 1];
    if (marked === row) return;
    if (marked) marked.classList.remove("now");
    marked = row;
    if (!row) return;
    row.classList.add("now");
    const code = $("code");
    const high = row.offsetTop - code.offsetTop;
    if (high < code.scrollTop + 20 || high > code.scrollTop + code.clientHeight - 40) code.scrollTop = high - code.clientHeight / 2;
  }

  // --------------------------------------------------------------------------------------------------- tensors
  const figures = new Map();
  function figureOf(key) {
    if (!figures.has(key)) {
      const made = { figure: make("figure"), canvas: make("canvas"), caption: make("figcaption"), drawn: null };
      made.figure.append(made.canvas, made.caption);
      made.canvas.setAttribute("role", "img");
      made.canvas.addEventListener("mousemove", (event) => hover(made, event));
      made.canvas.addEventListener("mouseleave", () => { made.canvas.title = ""; });
      figures.set(key, made);
    }
    return figures.get(key);
  }
  function hover(made, event) {
    const seen = made.drawn;
    if (!seen) return;
    const box = made.canvas.getBoundingClientRect();
    const r = Math.floor(((event.clientY - box.top) / box.height) * seen.height), c = Math.floor(((event.clientX - box.left) / box.width) * seen.width);
    if (r < 0 || c < 0 || r >= seen.height || c >= seen.width) return;
    const address = seen.address(r, c);
    made.canvas.title = `${elementOf(address, [[seen.name, seen.row]]) || seen.name}: ${known[address] === 1 ? number(cells[address]) : known[address] ? "not known" : BARE}`;
  }
  const window_ = (extent, middle) => {
    const wide = Math.min(extent, WINDOW);
    return [Math.max(0, Math.min(extent - wide, middle - (wide >> 1))), wide];
  };
  function draw(name, row, touched) {
    const one = data.tensors[row], made = figureOf(name + "\n" + row);
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
    if (one.first !== NOWHERE && width && height) paint(made.canvas, width, height, address, touched, counted);
    const slice = rank > 2 ? ` [${where.slice(0, -2).join(", ")}, :, :]` : "";
    const cut = across > width || down > height ? `, ${height} × ${width} of it` : "";
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
  function paint(canvas, width, height, address, touched, counted) {
    for (let r = 0; r < height; r++) for (let c = 0; c < width; c++) {
      const a = address(r, c), x = cells[a];
      if (known[a] !== 1) counted.none += known[a] === 0;
      else if (x !== x) counted.nan++;
      else if (!Number.isFinite(x)) counted.inf++;
      else { if (x < counted.least) counted.least = x; if (x > counted.most) counted.most = x; }
    }
    const scale = Math.max(2, Math.floor(PIXELS / Math.max(width, height, 6)));
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d"), image = context.createImageData(width * scale, height * scale);
    const pixels = new Uint32Array(image.data.buffer), across = width * scale;
    const marks = new Map(), marked = [];
    for (const mark of touched) if (!marks.has(mark.address) || mark.written) marks.set(mark.address, mark.written);
    const span = counted.most - counted.least || 1;
    for (let r = 0; r < height; r++) for (let c = 0; c < width; c++) {
      const a = address(r, c), state = known[a], flat = state === 1 ? colour(cells[a], counted.least, span) : 0;
      if (marks.size && marks.has(a)) marked.push([r, c, marks.get(a)]);
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
  function showTensors(call, path, e) {
    const touched = touchedAt(e), known_ = [];
    for (const [name, row] of call.tensors) if (isThere(name, row, path, e)) known_.push([name, row]);
    const last = known_.length - MOST;
    const chosen = known_.filter(([, row], k) => k >= last || touched.some((one) => indexIn(data.tensors[row], one.address)));
    const shown = chosen.map(([name, row]) => draw(name, row, touched));
    const box = $("tensors");
    if (known_.length > chosen.length) shown.unshift(make("p", `${known_.length - chosen.length} more: ${known_.filter((one) => !chosen.includes(one)).map(([name]) => name).join(", ").slice(0, 400)}`, "legend"));
    if (shown.length !== box.children.length || shown.some((one, k) => one !== box.children[k])) box.replaceChildren(...shown);
  }
  const boundAt = new Map(); // call and name: the event where it is bound
  for (const e of bounds) {
    const found = data.bindings[at[e]];
    for (const tensor of found.tensors) boundAt.set(`${found.call} ${tensor}`, Math.min(e, boundAt.get(`${found.call} ${tensor}`) ?? e));
  }
  function isThere(name, row, path, e) {
    const call = path.findLast((one) => kindOf(one) === CALL);
    const bound = call === undefined ? undefined : boundAt.get(`${at[call]} ${row}`);
    return bound === undefined || bound <= e;
  }

  // ----------------------------------------------------------------------------------------------------- graph
  const boxes = new Map(); // function and variable: rectangles
  for (const one of data.graphs) {
    const drawn = [...document.querySelectorAll("#graphs details")].find((each) => each.dataset.function === one.function);
    const rectangles = drawn ? [...drawn.querySelectorAll("svg > rect")].slice(1) : [];
    rectangles.forEach((rectangle, k) => {
      const name = one.boxes[k];
      if (!name) return;
      rectangle.classList.add("box");
      const key = one.function + "\n" + name;
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
  for (const one of data.bindings) if (one.nan) bad.add(`${data.calls[one.call].function}\n${one.name}`);
  let lit = null;
  function light(path) {
    const here = path.findLast((one) => kindOf(one) === BIND);
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

  // -------------------------------------------------------------------------------------------------- one moment
  let now = -1, asked = 0;
  function showPath(path, e) {
    const list = path.map((one) => {
      const row = make("li"), jump = make("button", told(one, []));
      jump.addEventListener("click", () => go(one));
      row.append(jump);
      return row;
    });
    $("path").replaceChildren(...list);
  }
  function showValues(call, callNumber, e) {
    const lines = call.values.map(([name, text]) => [name, text]);
    for (const one of data.bindings) {
      if (lines.length > 200) break;
      if (one.call !== callNumber || one.text || !one.count || !one.tensors.some((row) => (boundAt.get(`${callNumber} ${row}`) ?? Infinity) <= e)) continue;
      const range = one.least === null ? "" : `${number(one.least)} … ${number(one.greatest)}, mean ${number(one.mean)}`;
      lines.push([one.name, [range, one.nan ? `${one.nan} NaN` : "", one.inf ? `${one.inf} infinite` : "", one.known < one.count ? `${one.count - one.known} uninitialised` : ""].filter(Boolean).join(", ")]);
    }
    $("values").replaceChildren(...lines.map(([name, text]) => {
      const row = make("tr");
      row.append(make("td", name), make("td", text));
      return row;
    }));
  }
  function go(e) {
    if (!count) return;
    e = Math.max(0, Math.min(count - 1, e));
    if (e === now) return;
    now = e;
    restore(e);
    const path = pathOf(e), callEvent = path.findLast((one) => kindOf(one) === CALL);
    const callNumber = callEvent === undefined ? 0 : at[callEvent], call = data.calls[callNumber] || { tensors: [], values: [] };
    const step = stepOf(e);
    $("time").value = String(e);
    if (document.activeElement !== $("step")) $("step").value = String(step);
    $("event").textContent = `step ${step}: ${told(e, call.tensors)}`;
    $("link").href = `#step=${step}`;
    for (const id of ["first", "back"]) $(id).disabled = e === 0;
    for (const id of ["forward", "last"]) $(id).disabled = e === count - 1;
    markLine(lineOf(e) || (callEvent === undefined ? null : lineOf(callEvent)));
    showPath(path, e);
    showTensors(call, path, e);
    showValues(call, callNumber, e);
    light(path);
    clearTimeout(asked);
    asked = setTimeout(() => { try { history.replaceState(null, "", `#step=${step}`); } catch { /* in a frame without address */ } }, 300);
  }
  function toStep(step) {
    let low = 0, high = count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (stepOf(middle) <= step) low = middle; else high = middle - 1;
    }
    go(low);
  }
  function landmark(forward) {
    const found = forward ? landmarks.find((e) => e > now) : landmarks.findLast((e) => e < now);
    if (found !== undefined) go(found);
  }
  function fromAddress() {
    const found = /^#step=(\d+)$/.exec(location.hash);
    if (found) toStep(Number(found[1])); else go(0);
  }

  const leap = Math.max(1, Math.round(count / 100));
  const keys = {
    ArrowLeft: (shift) => go(now - (shift ? 100 : 1)), ArrowRight: (shift) => go(now + (shift ? 100 : 1)),
    ArrowUp: () => landmark(false), ArrowDown: () => landmark(true),
    PageUp: () => go(now - leap), PageDown: () => go(now + leap),
    Home: () => go(0), End: () => go(count - 1),
    n: () => nan >= 0 && go(nan), i: () => inf >= 0 && go(inf),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.id === "step") return;
    const key = keys[event.key];
    if (!key) return;
    event.preventDefault();
    key(event.shiftKey);
  });
  $("time").max = String(Math.max(0, count - 1));
  $("time").addEventListener("input", () => go(Number($("time").value)));
  $("step").addEventListener("change", () => { const step = Number($("step").value); if (Number.isFinite(step)) toStep(step); });
  for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["forward", "ArrowRight"], ["last", "End"], ["nan", "n"], ["inf", "i"]]) $(id).addEventListener("click", () => keys[key](false));
  $("nan").disabled = nan < 0;
  $("inf").disabled = inf < 0;
  if (!data.graphs.length) document.querySelector("main").classList.add("plain");
  window.addEventListener("hashchange", fromAddress);
  advance(count); // once through all, for the checkpoints
  fromAddress();
})();
