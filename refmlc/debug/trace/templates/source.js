// The text of the program, its current line marked.
const rows = [];
let shownSource = -1, marked = null;
function showSource(number) {
  if (number === shownSource) return;
  shownSource = number;
  marked = null;
  $("file").textContent = data.sources[number].name;
  const code = $("code");
  code.replaceChildren();
  rows.length = 0;
  const text = data.sources[number].text.replace(/\r\n?/g, "\n"), runs = data.runs[number];
  let row = null, offset = 0;
  const begin = () => {
    row = make("div", undefined, "row");
    const jump = make("button", String(rows.length + 1));
    const line = rows.length + 1;
    jump.tabIndex = -1;
    jump.addEventListener("click", () => toLine(line));
    row.append(jump, make("span", undefined, "text"));
    rows.push(row);
    code.append(row);
  };
  begin();
  for (let i = 0; i < runs.length; i += 2) {
    const parts = text.slice(offset, offset + runs[i + 1]).split("\n");
    offset += runs[i + 1];
    parts.forEach((part, k) => {
      if (k) begin();
      if (part) row.lastChild.append(make("span", part, runs[i]));
    });
  }
}
const lineOf = (e) => data.sites[site[e]].place;
function toLine(line) {
  for (let k = 1; k <= count; k++) {
    const e = (now + k) % count, place = lineOf(e);
    if (place && place[0] === shownSource && place[1] === line) { go(e); return; }
  }
}
function markLine(place) {
  if (!place) return;
  showSource(place[0]);
  const row = rows[place[1] - 1];
  if (marked === row) return;
  if (marked) marked.classList.remove("now");
  marked = row;
  if (!row) return;
  row.classList.add("now");
  const code = $("code");
  const high = row.offsetTop - code.offsetTop;
  if (high < code.scrollTop + 20 || high > code.scrollTop + code.clientHeight - 40) code.scrollTop = high - code.clientHeight / 2;
}
