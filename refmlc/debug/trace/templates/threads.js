// Threads by time: a lane for each warp, opened to a lane for each thread. A turn is drawn dark, a wait light, a copy in
// flight as a line below; above them the blocks, where there are several. A click goes to the step, and tells the wait or
// the turn there, and who ends the wait. Texts become text nodes only.
const numbersOf = (text) => Array.from(new BigInt64Array(bytesOf(text || "").buffer), Number);
const turns = numbersOf(data.threads.turns), ends = numbersOf(data.threads.ends), blocks = numbersOf(data.threads.blocks);
const LANE = 18, TURN = 4, END = 3, BLOCK_ROW = 4, WARP = 32, MOST_ROWS = 64, LABEL = 7;
// thread: its turns and waits in order: first step, the step after the last, wait (-1: a turn), who ends it and when
const spans = new Map();
const order = []; // the threads by number
const warps = new Map(); // warp: its threads
const copiesOf = new Map(); // warp: its copies
(() => {
  const enders = new Map(); // row of a turn: the thread that ends the wait after it, and at which step
  for (let k = 0; k < ends.length; k += END) enders.set(ends[k], ends.slice(k + 1, k + END));
  for (let k = 0; k < turns.length; k += TURN) {
    const [thread, begin, end, wait] = turns.slice(k, k + TURN);
    if (!spans.has(thread)) spans.set(thread, []);
    const list = spans.get(thread), last = list[list.length - 1];
    if (last && last[2] >= 0) last[1] = begin; // the wait lasts to this turn
    list.push([begin, end, -1]);
    if (wait >= 0) list.push([end, data.total, wait, enders.get(k / TURN)]);
  }
  order.push(...[...spans.keys()].sort((a, b) => a - b));
  for (const thread of order) {
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
  const wait = data.threads.waits[span[2]], text = `${wait.text}${lineText(wait.place)}`;
  if (span[3] && span[3][0] === thread) return `may continue: it is the last to come: ${text}`;
  if (span[3] && step >= span[3][1]) return `may continue: thread ${span[3][0]} has ended the wait at step ${span[3][1]}: ${text}`;
  return `waits: ${text}${endText(span)}`;
}
function endText(span) {
  if (span[3]) return `; thread ${span[3][0]} ends the wait at step ${span[3][1]}`;
  return span[1] === data.total && data.failure && !data.threads.cut ? "; nobody ends the wait" : "";
}
const blockText = (k) => blocks.slice(k + 1, k + BLOCK_ROW).filter((index) => index >= 0).join(", ");
// The row of the block that runs at a step; -1: none yet.
function blockAt(step) {
  let low = 0, high = blocks.length / BLOCK_ROW;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle * BLOCK_ROW] <= step) low = middle + 1; else high = middle;
  }
  return (low - 1) * BLOCK_ROW;
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
  for (const thread of order) {
    const state = stateAt(thread, step);
    if (!state) continue;
    if (!groups.has(state)) groups.set(state, []);
    groups.get(state).push(thread);
  }
  const lines = [...groups].map(([state, threads]) => standingOf(state, threads, step));
  for (const copy of data.threads.copies) {
    if (copy.begin <= step && step < endOf(copy)) lines.push(make("li", `a copy of ${copy.nbytes} bytes into ${copy.into} is in flight, issued by thread ${copy.thread}${lineText(copy.place)}`));
  }
  const block = blockAt(step);
  if (block >= 0 && blocks.length > BLOCK_ROW && blockText(block)) lines.unshift(make("li", `block ${blockText(block)}`));
  const more = lines.length - MOST_ROWS;
  $("standing").replaceChildren(...lines.slice(0, MOST_ROWS), ...(more > 0 ? [make("li", `and ${more} more`)] : []));
  for (const lane of document.querySelectorAll("#lanes canvas")) paintLane(lane, step);
}
// A row for threads in the same state; where a thread ends their wait, a button goes there.
function standingOf(state, threads, step) {
  const many = threads.length > 1, words = many ? state.replace(/^runs$/, "run").replace(/^waits:/, "wait:") : state;
  const row = make("li", `${many ? "threads" : "thread"} ${rangesOf(threads)} ${words}`), end = spanAt(threads[0], step)[3];
  if (!end || end[0] === threads[0]) return row;
  const jump = make("button", "go there");
  jump.addEventListener("click", () => { toStep(end[1]); });
  row.append(" ", jump);
  return row;
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
  if (canvas.blocks) drawBlocks(context, scale, color);
  boxes(true, color("--mark"), 2, 11);
  boxes(false, color("--accent"), 2, 11);
  context.fillStyle = color("--bad");
  for (const copy of copiesOf.get(canvas.warp) || []) {
    if (threads.includes(copy.thread)) context.fillRect(copy.begin * scale, 14, Math.max(1, (endOf(copy) - copy.begin) * scale), 3);
  }
  return picture;
}
function drawBlocks(context, scale, color) {
  context.font = "11px ui-monospace, monospace";
  for (let k = 0; k < blocks.length; k += BLOCK_ROW) {
    const begin = blocks[k] * scale, end = (k + BLOCK_ROW < blocks.length ? blocks[k + BLOCK_ROW] : data.total) * scale;
    context.fillStyle = color("--line");
    if ((k / BLOCK_ROW) % 2 === 0) context.fillRect(begin, 0, end - begin, LANE);
    context.fillStyle = color("--front");
    if (end - begin > LABEL * (blockText(k).length + 1)) context.fillText(blockText(k), begin + 3, 13);
  }
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
  Object.assign(canvas, { width: 1200, height: LANE, warp, threads, blocks: !threads.length });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title} by time`);
  canvas.addEventListener("click", (event) => {
    event.preventDefault(); // the lane of a warp is the title of its threads
    const step = Math.min(data.total - 1, Math.floor((event.offsetX / canvas.clientWidth) * data.total));
    toStep(step);
    if (threads.length) tell(threads, step);
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
  if (blocks.length > BLOCK_ROW) $("lanes").append(laneOf(-1, [], "blocks"));
  for (const [warp, threads] of warps) {
    const box = make("details"), head = make("summary");
    head.append(laneOf(warp, threads, `warp ${warp}: ${rangesOf(threads)}`));
    box.append(head);
    box.addEventListener("toggle", () => {
      if (!box.open || box.querySelector(":scope > .lane")) return;
      for (const thread of threads) box.append(laneOf(warp, [thread], `thread ${thread}`));
      showThreads(stepOf(now));
    });
    $("lanes").append(box);
  }
}
