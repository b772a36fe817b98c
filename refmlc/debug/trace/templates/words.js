// Words for values, elements and events.
// Where stores were omitted, a cell without a value may have been written by one of them.
const BARE = data.sampling ? "uninitialised or omitted" : "uninitialised";
const number = (x) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : Number.isFinite(x) ? String(Number(x.toPrecision(8))) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");
const same = (x, y) => x === y || (x !== x && y !== y);
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
    case BLOCK: return `block ${one.name}${one.axes.length ? `: ${axesOf(e)}` : ""}`;
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
