// Threads by time: a lane for each warp, opened to a lane for each thread. A turn is drawn dark, a wait light, a copy in
// flight as a line below. A click goes to the step, and tells the wait or the turn there. Texts become text nodes only.
const turns = new BigInt64Array(bytesOf(data.threads.turns).buffer);
const LANE = 18, TURN = 4, WARP = 32;
const spans = new Map(); // thread: its turns and waits in order: first step, the step after the last, wait (-1: a turn)
const warps = new Map(); // warp: its threads
const copiesOf = new Map(); // warp: its copies
(() => {
  for (let k = 0; k < turns.length; k += TURN) {
    const [thread, begin, end, wait] = [0, 1, 2, 3].map((column) => Number(turns[k + column]));
    if (!spans.has(thread)) spans.set(thread, []);
    const list = spans.get(thread), last = list[list.length - 1];
    if (last && last[2] >= 0) last[1] = begin; // the wait lasts to this turn
    list.push([begin, end, -1]);
    if (wait >= 0) list.push([end, data.total, wait]);
  }
  for (const thread of [...spans.keys()].sort((a, b) => a - b)) {
    const warp = Math.floor(thread / WARP);
    if (!warps.has(warp)) warps.set(warp, []);
    warps.get(warp).push(thread);
  }
  for (const copy of data.threads.copies) {
    const warp = Math.floor(copy.thread / WARP);
    if (!copiesOf.has(warp)) copiesOf.set(warp, []);
    copiesOf.get(warp).push(copy);
  }
})();
const endOf = (copy) => (copy.end < 0 ? data.total : copy.end);

// What a thread does at a step: its span there, or undefined where it has not begun or has ended.
function spanAt(thread, step) {
  const list = spans.get(thread);
  let low = 0, high = list.length - 1, place = -1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (list[middle][0] <= step) { place = middle; low = middle + 1; } else high = middle - 1;
  }
  const found = list[place];
  return found && step < found[1] ? found : undefined;
}
const lineText = (place) => (place ? `, line ${place[1]}` : "");
function stateAt(thread, step) {
  const span = spanAt(thread, step);
  if (!span) return "";
  if (span[2] < 0) return "runs";
  const wait = data.threads.waits[span[2]];
  return `waits: ${wait.text}${lineText(wait.place)}`;
}
// Numbers as text: 0-3, 5.
function rangesOf(numbers) {
  const parts = [];
  for (const number of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] === number - 1) last[1] = number; else parts.push([number, number]);
  }
  return parts.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(", ");
}
function showThreads(step) {
  if (!spans.size) return;
  const groups = new Map();
  for (const thread of [...spans.keys()].sort((a, b) => a - b)) {
    const state = stateAt(thread, step);
    if (!state) continue;
    if (!groups.has(state)) groups.set(state, []);
    groups.get(state).push(thread);
  }
  const lines = [...groups].map(([state, threads]) => make("li", `${threads.length > 1 ? "threads" : "thread"} ${rangesOf(threads)} ${threads.length > 1 ? state.replace(/^runs$/, "run").replace(/^waits:/, "wait:") : state}`));
  for (const copy of data.threads.copies) {
    if (copy.begin <= step && step < endOf(copy)) lines.push(make("li", `a copy of ${copy.nbytes} bytes into ${copy.into} is in flight, issued by thread ${copy.thread}${lineText(copy.place)}`));
  }
  $("standing").replaceChildren(...lines.slice(0, 64));
  for (const lane of document.querySelectorAll("#lanes canvas")) paintLane(lane, step);
}
// The lane without the line of the present step, drawn once for each colour scheme.
function pictureOf(canvas) {
  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
  if (canvas.picture && canvas.shade === color("--front")) return canvas.picture;
  const picture = document.createElement("canvas"), context = picture.getContext("2d");
  Object.assign(picture, { width: canvas.width, height: LANE });
  canvas.picture = picture;
  canvas.shade = color("--front");
  const scale = canvas.width / Math.max(1, data.total);
  const threads = canvas.threads;
  const boxes = (waiting, shade, top, height) => {
    context.fillStyle = shade;
    for (const thread of threads) {
      for (const [begin, end, wait] of spans.get(thread)) {
        if ((wait >= 0) === waiting) context.fillRect(begin * scale, top, Math.max(1, (end - begin) * scale), height);
      }
    }
  };
  boxes(true, color("--mark"), 2, 11);
  boxes(false, color("--accent"), 2, 11);
  context.fillStyle = color("--bad");
  for (const copy of copiesOf.get(canvas.warp) || []) {
    if (threads.includes(copy.thread)) context.fillRect(copy.begin * scale, 14, Math.max(1, (endOf(copy) - copy.begin) * scale), 3);
  }
  return picture;
}
function paintLane(canvas, step) {
  if (!canvas.offsetParent) return; // in a lane that is closed
  const context = canvas.getContext("2d"), picture = pictureOf(canvas);
  context.clearRect(0, 0, canvas.width, LANE);
  context.drawImage(picture, 0, 0);
  context.fillStyle = canvas.shade;
  context.fillRect((step * canvas.width) / Math.max(1, data.total), 0, 1, LANE);
}
function laneOf(warp, threads, title) {
  const row = make("div", undefined, "lane"), canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 1200, height: LANE, warp, threads });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title} by time`);
  canvas.addEventListener("click", (event) => {
    const step = Math.min(data.total - 1, Math.floor((event.offsetX / canvas.clientWidth) * data.total));
    toStep(step);
    tell(threads, step);
  });
  row.append(make("span", title), canvas);
  return row;
}
// The threads of a lane at a step; the place of the first wait is marked in the text.
function tell(threads, step) {
  const here = threads.map((thread) => [thread, stateAt(thread, step)]).filter(([, state]) => state);
  const active = here.find(([, state]) => state === "runs") || here[0];
  if (!active) { $("lane").textContent = `step ${step}: not begun, or ended`; return; }
  $("lane").textContent = `step ${step}: thread ${active[0]} ${active[1]}`;
  const span = spanAt(active[0], step);
  if (span[2] >= 0) markLine(data.threads.waits[span[2]].place);
}
function buildLanes() {
  $("threads").hidden = !spans.size;
  for (const [warp, threads] of warps) {
    const box = make("details"), head = make("summary"), title = `warp ${warp}`;
    head.append(make("span", `${title}: threads ${rangesOf(threads)}`));
    box.append(head);
    box.addEventListener("toggle", () => {
      if (!box.open || box.querySelector(".lane")) return;
      for (const thread of threads) box.append(laneOf(warp, [thread], `thread ${thread}`));
      showThreads(stepOf(now));
    });
    $("lanes").append(laneOf(warp, threads, title), box);
  }
}
