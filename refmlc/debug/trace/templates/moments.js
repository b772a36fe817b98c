// One moment: keys, buttons, the slider, the address.
let now = -1, addressTimer = 0, whyTimer = 0;
function showPath(path, e) {
  const list = path.map((event) => {
    const row = make("li"), jump = make("button", describe(event, []));
    jump.addEventListener("click", () => go(event));
    row.append(jump);
    return row;
  });
  replaceRows($("path"), list);
}
// Replace rows and keep the keyboard focus at its place.
function replaceRows(box, rows) {
  const place = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  box.replaceChildren(...rows);
  if (place < 0) return;
  const buttons = box.querySelectorAll("button");
  if (buttons.length) buttons[Math.min(place, buttons.length - 1)].focus({ preventScroll: true });
  else $("event").focus({ preventScroll: true });
}
function showValues(call, callNumber, e) {
  const lines = call.values.map(([name, text]) => [name, text]);
  for (const binding of data.bindings) {
    if (lines.length > 200) break;
    if (binding.call !== callNumber || binding.text || !binding.count || !binding.tensors.some((row) => (boundAt.get(`${callNumber} ${row}`) ?? Infinity) <= e)) continue;
    const range = binding.least === null ? "" : `${number(binding.least)} … ${number(binding.greatest)}, mean ${number(binding.mean)}`;
    lines.push([binding.name, [range, binding.nan ? `${binding.nan} NaN` : "", binding.inf ? `${binding.inf} infinite` : "", binding.known < binding.count ? `${binding.count - binding.known} uninitialised` : ""].filter(Boolean).join(", ")]);
  }
  $("named").hidden = !lines.length;
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
  const path = pathOf(e), callEvent = path.findLast((event) => kindOf(event) === CALL);
  const callNumber = callEvent === undefined ? 0 : at[callEvent], call = data.calls[callNumber] || { tensors: [], values: [] };
  const step = stepOf(e);
  $("time").value = String(e);
  if (document.activeElement !== $("step")) $("step").value = String(step);
  $("event").textContent = `step ${step}: ${describe(e, call.tensors)}`;
  $("link").href = `#step=${step}`;
  for (const id of ["first", "back"]) $(id).disabled = e === 0;
  for (const id of ["forward", "last"]) $(id).disabled = e === count - 1;
  markLine(lineOf(e) || (callEvent === undefined ? null : lineOf(callEvent)));
  showPath(path, e);
  showTensors(call, path, e);
  showValues(call, callNumber, e);
  showThreads(step);
  light(path);
  $("origin").disabled = !isCell(e);
  clearTimeout(whyTimer);
  whyTimer = setTimeout(() => showWhy(e), 60);
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => { try { history.replaceState(null, "", `#step=${step}`); } catch { /* a frame without an address */ } }, 300);
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
  const target = forward ? landmarks.find((e) => e > now) : landmarks.findLast((e) => e < now);
  if (target !== undefined) go(target);
}
function fromAddress() {
  const match = /^#step=(\d+)$/.exec(location.hash);
  if (match) toStep(Number(match[1])); else go(0);
}

const leap = Math.max(1, Math.round(count / 100));
const keys = {
  ArrowLeft: (shift) => go(now - (shift ? 100 : 1)), ArrowRight: (shift) => go(now + (shift ? 100 : 1)),
  ArrowUp: () => landmark(false), ArrowDown: () => landmark(true),
  PageUp: () => go(now - leap), PageDown: () => go(now + leap),
  Home: () => go(0), End: () => go(count - 1),
  n: () => nan >= 0 && go(nan), i: () => inf >= 0 && go(inf), w: () => toMaker(),
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
for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["forward", "ArrowRight"], ["last", "End"], ["nan", "n"], ["inf", "i"], ["origin", "w"]]) $(id).addEventListener("click", () => keys[key](false));
$("nan").disabled = nan < 0;
$("inf").disabled = inf < 0;
if (!data.graphs.length) document.querySelector("main").classList.add("plain");
window.addEventListener("hashchange", fromAddress);
buildLanes();
advance(count); // apply all events once, for the checkpoints
fromAddress();
