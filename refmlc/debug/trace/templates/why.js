// Why an element has its value: the stores that made what an event read, back to the arguments. A store is made of the
// loads right before it; of these the chain follows a NaN, else an infinity, else the greatest. Stores that add to one
// element are one link.
const DEEP = 24, FAR = 8e6; // links; events that are looked at for one chain
let left = 0;

function callAt(e) {
  const found = pathOf(e).findLast((one) => kindOf(one) === CALL);
  return found === undefined ? { tensors: [] } : data.calls[at[found]];
}
const elementAt = (e) => elementOf(at[e], callAt(e).tensors) || data.sites[site[e]].name;
const weight = (x) => (x !== x ? 3 : Math.abs(x) === Infinity ? 2 : 1 - 1 / (1 + Math.abs(x)));

function operandsOf(e) {
  if (kindOf(e) === LOAD) return [e];
  const found = [];
  for (let k = e - 1; k >= 0 && kindOf(k) === LOAD && stepOf(e) - stepOf(k) === e - k && found.length < 64; k--) found.push(k);
  return found.reverse();
}
function filledBefore(e, address) {
  for (let k = contents.length - 1; k >= 0; k--) {
    const memory = data.memories[contents[k].memory];
    if (contents[k].event <= e && memory.base !== NOWHERE && memory.base <= address && address < memory.base + memory.cells) return contents[k];
  }
  return null;
}
// Whether contents have this value at an address; they are decoded by now, for they were applied before.
function holds(filled, address, x) {
  const cell = address - data.memories[filled.memory].base;
  return filled.read !== undefined && filled.read[1][cell] === 1 && same(filled.read[0][cell], x);
}
// The store before `e` that made what it read, or a text that says where it is from.
function makerOf(e) {
  const address = at[e];
  if (address === NOWHERE) return { text: "its tensor is too large to be shown" };
  const filled = filledBefore(e, address), end = filled && !data.sampling ? filled.event : 0;
  for (let k = e - 1; k >= end; k--) {
    if (--left < 0) return { text: "it was made further back" };
    if (at[k] !== address || kindOf(k) !== STORE) continue;
    if (same(value[k], value[e])) return { event: k };
    break;
  }
  const given = elementOf(address, data.calls.length ? data.calls[0].tensors : []);
  if (filled && given && filled.event <= 1 && holds(filled, address, value[e])) return { text: `an argument: ${given}` };
  return { text: data.sampling ? "made by a store that is omitted" : filled ? "made where nothing is watched" : "nothing here made it" };
}
const heaviest = (loads) => loads.reduce((best, one) => (best === undefined || weight(value[one]) > weight(value[best]) ? one : best), undefined);

// One link: the store, the loads that it is made of, the one that the chain follows, how many stores it stands for.
function linkAt(e) {
  const special = !Number.isFinite(value[e]);
  let here = e, count = 1, terms = [], maker = null;
  for (;;) {
    const operands = operandsOf(here), self = kindOf(here) === STORE ? operands.find((one) => at[one] === at[here]) : undefined;
    const others = operands.filter((one) => one !== self);
    if (special) terms = operands; else terms = [...terms, ...others];
    if (self === undefined || (special && Number.isFinite(value[self]))) break;
    if (special && others.some((one) => weight(value[one]) >= weight(value[self]))) { terms = others; break; }
    maker = makerOf(self);
    if (maker.event === undefined || count > 4096) { terms = [self, ...terms]; break; }
    here = maker.event;
    count++;
  }
  return { event: e, terms, chosen: heaviest(terms), count };
}
function chainOf(e) {
  left = FAR;
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
      const row = make("li"), jump = make("button", told(link.event, callAt(link.event).tensors));
      jump.addEventListener("click", () => go(link.event));
      row.append(jump);
      const shown = [...new Set(link.terms)].sort((a, b) => weight(value[b]) - weight(value[a])).slice(0, 4);
      if (link.count > 1) row.append(` after ${link.count} stores to it`);
      if (kindOf(link.event) === STORE && shown.length) row.append(make("div", `of ${shown.map((one) => `${elementAt(one)} = ${number(value[one])}`).join(", ")}${link.terms.length > 4 ? ", …" : ""}`, "soft"));
      rows.push(row);
    }
    if (end) rows.push(make("li", end));
  }
  $("because").hidden = !rows.length;
  replaceRows(list, rows);
}
// Back to the store that made what this event stored or read.
function toMaker() {
  if (now < 0 || !isCell(now)) return;
  left = FAR;
  const chosen = linkAt(now).chosen, maker = chosen === undefined ? {} : makerOf(chosen);
  if (maker.event !== undefined) go(maker.event);
  else if (maker.text) $("event").textContent = `step ${stepOf(now)}: ${told(now, callAt(now).tensors)} (${maker.text})`;
}
function toWriteOf(address) {
  for (let k = now; k >= 0; k--) if (at[k] === address && (kindOf(k) === STORE || kindOf(k) === FORGET)) { go(k); return; }
}
