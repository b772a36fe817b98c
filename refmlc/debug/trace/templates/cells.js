// The cells at a moment: contents and stores applied in order, with checkpoints on the way.
let size = 0;
for (const memory of data.memories) if (memory.base !== NOWHERE) size += memory.cells;
const cells = new Float64Array(size), known = new Uint8Array(size);
const contents = data.contents;
const every = Math.max(4096, Math.ceil(count / Math.max(1, Math.min(64, Math.floor(96e6 / (9 * size + 1))))));
const checkpoints = [];
const oldValues = new Float64Array(count), oldKnown = new Uint8Array(count); // of the cell of a store, before it
let reached = 0, following = 0; // the number of applied events, and of applied contents
function fill(block) {
  const memory = data.memories[block.memory];
  if (memory.base === NOWHERE) return;
  if (block.values === null) { known.fill(2, memory.base, memory.base + memory.cells); return; }
  block.read ??= [new Float64Array(bytesOf(block.values).buffer), bytesOf(block.known)];
  cells.set(block.read[0], memory.base);
  known.set(block.read[1], memory.base);
}
function advance(end) {
  while (reached < end) {
    if (reached % every === 0 && !checkpoints[reached / every] && 9 * size < 32e6) {
      checkpoints[reached / every] = { cells: cells.slice(), known: known.slice(), following };
    }
    while (following < contents.length && contents[following].event <= reached) fill(contents[following++]);
    const kind = kindOf(reached), address = at[reached];
    if (kind === STORE || kind === FORGET) {
      if (address !== NOWHERE) {
        oldValues[reached] = cells[address];
        oldKnown[reached] = known[address];
        if (kind === STORE) cells[address] = value[reached];
        known[address] = kind === STORE ? 1 : 0;
      }
    } else if (kind === ALLOC) {
      const memory = data.memories[data.tensors[address].memory];
      if (memory.base !== NOWHERE) known.fill(0, memory.base, memory.base + memory.cells);
    }
    reached++;
  }
  if (reached === count) while (following < contents.length) fill(contents[following++]);
}
// Undo single stores, up to the nearest allocation or contents, and only as far as that is faster than a checkpoint.
function retreat(end) {
  while (reached > end && reached - end < 50000) {
    const e = reached - 1, kind = kindOf(e), address = at[e];
    if (kind === ALLOC || (following && contents[following - 1].event >= e)) return;
    if ((kind === STORE || kind === FORGET) && address !== NOWHERE) { cells[address] = oldValues[e]; known[address] = oldKnown[e]; }
    reached--;
  }
}
function restore(e) {
  const far = e + 1;
  retreat(far);
  let number = Math.min(Math.floor(far / every), checkpoints.length - 1);
  while (number > 0 && !checkpoints[number]) number--;
  const checkpoint = checkpoints[number];
  if (checkpoint && (far < reached || number * every > reached + every)) {
    cells.set(checkpoint.cells);
    known.set(checkpoint.known);
    following = checkpoint.following;
    reached = number * every;
  } else if (far < reached) {
    known.fill(0);
    cells.fill(0);
    following = reached = 0;
  }
  advance(far);
}
