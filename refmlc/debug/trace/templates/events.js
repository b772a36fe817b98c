// The data, and the events around each event. The files of this folder are one function (`page.py`), in the order given there.
// Moment e is just after kept event e. Text from the program becomes a text node, never HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const NOWHERE = 0xffffffff, WINDOW = 64, MOST = 12, PIXELS = 192;

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
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
const kinds = Uint8Array.from(data.sites, (row) => KINDS.indexOf(row.kind));
const kindOf = (e) => kinds[site[e]];
const parent = new Int32Array(count).fill(-1);
const bindings = new Map(); // function and variable: the events where it begins
const landmarks = [], bounds = [];
let nan = -1, inf = -1;
(() => {
  const open = new Int32Array(4096), depths = new Int32Array(4096), bases = [0];
  const depthOf = Int32Array.from(data.sites, (row) => row.depth);
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
        const row = data.sites[site[e]], key = row.function + "\n" + row.name;
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
