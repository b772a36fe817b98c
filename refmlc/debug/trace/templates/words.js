// Texts for values, elements and events.
// In a sampled trace, an omitted store may have written a cell without a value.
const UNINITIALISED = data.sampling ? "uninitialised or omitted" : "uninitialised";
const number = (x) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : Number.isFinite(x) ? String(Number(x.toPrecision(8))) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");
const same = (x, y) => x === y || (x !== x && y !== y);
const shape = (tensor) => `(${tensor.shape.join(", ")}) ${tensor.dtype}`;
function pathOf(e) {
  const path = [];
  let here = kindOf(e) === CALL || kindOf(e) === BIND || kindOf(e) === ITER || kindOf(e) === BLOCK ? e : parent[e];
  for (; here >= 0; here = parent[here]) path.push(here);
  return path.reverse();
}
function axesOf(e) {
  return data.sites[site[e]].axes.map((name, i) => `${name} = ${ints[at[e] + i]}`).join(", ");
}
function elementOf(address, tensors) {
  for (const [name, row] of tensors) {
    const tensor = data.tensors[row], where = indexIn(tensor, address);
    if (where) return `${name}[${where.join(", ")}]`;
  }
  return null;
}
function indexIn(tensor, address) {
  if (tensor.first === NOWHERE || address < tensor.first) return null;
  let rest = Math.floor((address - tensor.first) / tensor.lanes);
  const where = tensor.shape.map(() => 0);
  const axes = tensor.shape.map((_, axis) => axis).sort((a, b) => tensor.strides[b] - tensor.strides[a]);
  for (const axis of axes) {
    if (tensor.shape[axis] > 1 && tensor.strides[axis] > 0) {
      where[axis] = Math.floor(rest / tensor.strides[axis]);
      rest -= where[axis] * tensor.strides[axis];
      if (where[axis] >= tensor.shape[axis]) return null;
    }
  }
  return rest ? null : where;
}
function describe(e, tensors) {
  const row = data.sites[site[e]], kind = kindOf(e);
  switch (kind) {
    case CALL: return `${row.name} is called`;
    case RETURN: return `${row.name} returns`;
    case BIND: return `${row.name} is about to be computed`;
    case BOUND: {
      const binding = data.bindings[at[e]];
      return `${row.name} is ${binding.text || "bound"}${binding.nan ? `, ${binding.nan} of ${binding.count} NaN` : ""}${binding.inf ? `, ${binding.inf} infinite` : ""}`;
    }
    case ITER: return row.name === "while" ? "while: an iteration" : `${row.name} = ${value[e]}`;
    case BLOCK: return `block ${row.name}${row.axes.length ? `: ${axesOf(e)}` : ""}`;
    case ALLOC: return `${row.name} is allocated`;
    case FAIL: return `the run ends: ${data.failure.code} ${data.failure.message}`;
    default: {
      const name = elementOf(at[e], tensors) || row.name;
      return kind === FORGET ? `${name} is undefined from now on` : kind === LOAD ? `${name} is read: ${number(value[e])}` : `${name} = ${number(value[e])}`;
    }
  }
}
function make(tag, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}
