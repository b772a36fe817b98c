// Why an element has its value: the stores that produced the value of an event, back to the arguments. The operands of a
// store are the loads right before it; the chain follows a NaN, else an infinity, else the greatest of them. Stores that
// accumulate into one element are one link.
const DEEP = 24, FAR = 8e6; // at most: links of a chain; events to search for it
let budget = 0;

function callAt(e) {
  const call = pathOf(e).findLast((event) => kindOf(event) === CALL);
  return call === undefined ? { tensors: [] } : data.calls[at[call]];
}
const elementAt = (e) => elementOf(at[e], callAt(e).tensors) || data.sites[site[e]].name;
const weight = (x) => (x !== x ? 3 : Math.abs(x) === Infinity ? 2 : 1 - 1 / (1 + Math.abs(x)));

function operandsOf(e) {
  if (kindOf(e) === LOAD) return [e];
  const loads = [];
  for (let k = e - 1; k >= 0 && kindOf(k) === LOAD && stepOf(e) - stepOf(k) === e - k && loads.length < 64; k--) loads.push(k);
  return loads.reverse();
}
function filledBefore(e, address) {
  for (let k = contents.length - 1; k >= 0; k--) {
    const memory = data.memories[contents[k].memory];
    if (contents[k].event <= e && memory.base !== NOWHERE && memory.base <= address && address < memory.base + memory.cells) return contents[k];
  }
  return null;
}
// True if contents have this value at an address; they are decoded, because they were applied before.
function holds(filled, address, x) {
  const cell = address - data.memories[filled.memory].base;
  return filled.read !== undefined && filled.read[1][cell] === 1 && same(filled.read[0][cell], x);
}
// The store before `e` that produced the value of `e`, or a text about its origin.
function makerOf(e) {
  const address = at[e];
  if (address === NOWHERE) return { text: "its tensor is too large to show" };
  const filled = filledBefore(e, address), end = filled && !data.sampling ? filled.event : 0;
  for (let k = e - 1; k >= end; k--) {
    if (--budget < 0) return { text: "its origin is further back" };
    if (at[k] !== address || kindOf(k) !== STORE) continue;
    if (same(value[k], value[e])) return { event: k };
    break;
  }
  const argument = elementOf(address, data.calls.length ? data.calls[0].tensors : []);
  if (filled && argument && filled.event <= 1 && holds(filled, address, value[e])) return { text: `an argument: ${argument}` };
  return { text: data.sampling ? "stored by an omitted event" : filled ? "stored by an unrecorded call" : "not stored in this trace" };
}
const heaviest = (loads) => loads.reduce((best, load) => (best === undefined || weight(value[load]) > weight(value[best]) ? load : best), undefined);

// One link: the store, its operands, the operand that the chain follows, and the number of stores it stands for.
function linkAt(e) {
  const special = !Number.isFinite(value[e]);
  let here = e, count = 1, terms = [], maker = null;
  for (;;) {
    const operands = operandsOf(here), self = kindOf(here) === STORE ? operands.find((load) => at[load] === at[here]) : undefined;
    const others = operands.filter((load) => load !== self);
    if (special) terms = operands; else terms = [...terms, ...others];
    if (self === undefined || (special && Number.isFinite(value[self]))) break;
    if (special && others.some((load) => weight(value[load]) >= weight(value[self]))) { terms = others; break; }
    maker = makerOf(self);
    if (maker.event === undefined || count > 4096) { terms = [self, ...terms]; break; }
    here = maker.event;
    count++;
  }
  return { event: e, terms, chosen: heaviest(terms), count };
}
function chainOf(e) {
  budget = FAR;
  const links = [];
  let here = e, end = null;
  while (here !== undefined && links.length < DEEP) {
    const link = linkAt(here);
    links.push(link);
    if (link.chosen === undefined) break;
    const maker = makerOf(link.chosen);
    end = maker.text ? `${elementAt(link.chosen)} = ${number(value[link.chosen])}: ${maker.text}` : null;
    here = maker.event;
  }
  return { links, end };
}
const isCell = (e) => kindOf(e) === LOAD || kindOf(e) === STORE;

function showWhy(e) {
  const rows = [], list = $("why");
  if (isCell(e)) {
    const { links, end } = chainOf(e);
    for (const link of links) {
      const row = make("li"), jump = make("button", describe(link.event, callAt(link.event).tensors));
      jump.addEventListener("click", () => go(link.event));
      row.append(jump);
      const shown = [...new Set(link.terms)].sort((a, b) => weight(value[b]) - weight(value[a])).slice(0, 4);
      if (link.count > 1) row.append(` after ${link.count} stores to it`);
      if (kindOf(link.event) === STORE && shown.length) row.append(make("div", `from ${shown.map((load) => `${elementAt(load)} = ${number(value[load])}`).join(", ")}${link.terms.length > 4 ? ", …" : ""}`, "soft"));
      rows.push(row);
    }
    if (end) rows.push(make("li", end));
  }
  $("because").hidden = !rows.length;
  replaceRows(list, rows);
}
// Go back to the store that produced the value of this event.
function toMaker() {
  if (now < 0 || !isCell(now)) return;
  budget = FAR;
  const chosen = linkAt(now).chosen, maker = chosen === undefined ? {} : makerOf(chosen);
  if (maker.event !== undefined) go(maker.event);
  else if (maker.text) $("event").textContent = `step ${stepOf(now)}: ${describe(now, callAt(now).tensors)} (${maker.text})`;
}
function toWriteOf(address) {
  for (let k = now; k >= 0; k--) if (at[k] === address && (kindOf(k) === STORE || kindOf(k) === FORGET)) { go(k); return; }
}
