// The cells at a moment: contents and stores applied in order, with checkpoints on the way.
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
