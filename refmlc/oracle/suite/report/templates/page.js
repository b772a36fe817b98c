"use strict";
// The page of a run: a matrix of clauses, a list of cases, one case. What is shown is kept in the address:
// #clause=NUM-101, #clause=NUM-101&impl=0, #case=scalar.add. All text of the data becomes text nodes.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const RIGHT = new Set(["pass", "permitted"]);
  const FAULTS = new Set(["fail", "missed-trap", "over-strict", "crash", "timeout"]);
  const NONE = "";
  const LABELS = data.implementations;
  const find = (id) => document.getElementById(id);
  const matrix = find("matrix"), detail = find("detail"), query = find("query"), surprising = find("surprising");
  const folded = new Set();

  // ------------------------------------------------------------------------------------------ elements

  const el = (tag, props, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "class") made.className = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };
  const breakable = (name) => name.split(/(?<=[:,/])/).map((piece) => [piece, el("wbr")]);
  const css = (verdict) => "v-" + verdict.replace(" ", "-");
  const plural = (count, word) => count.toLocaleString("en") + " " + word + (count === 1 ? "" : "s");
  const badge = (verdict, expected, label) =>
    el("span", { class: "badge" + (expected ? "" : " bad") }, el("span", { class: "dot " + css(verdict) }), (label ? label + ": " : "") + verdict);
  const stack = (counts) => {
    const bar = el("span", { class: "stack", "aria-hidden": "true" });
    for (const verdict of data.verdicts) {
      if (!counts[verdict]) continue;
      const part = el("span", { class: css(verdict) });
      part.style.flexGrow = counts[verdict];
      bar.append(part);
    }
    return bar;
  };

  // ------------------------------------------------------------------------------------------ cases

  const verdictOf = (result) => (result === null ? null : typeof result === "string" ? result : result.verdict);
  const isExpected = (result) => result === null || typeof result === "string" || result.expected;
  const whyOf = (result) => {
    if (result === null || typeof result === "string") return "";
    return result.unexpected || (result.calls.find((call) => call.why) || { why: "" }).why;
  };
  for (const one of data.cases) {
    const named = one.clauses.map((name) => name + " " + (data.clauses[name] ? data.clauses[name].title : ""));
    const told = one.results.map((result) => (verdictOf(result) || "") + " " + whyOf(result) + " " + ((result && result.known) || ""));
    one.words = [one.id, ...named, ...one.features, ...told].join("\n").toLowerCase();
    one.shown = one.clauses.length ? one.clauses : [NONE];
  }
  const byId = new Map(data.cases.map((one) => [one.id, one]));
  const counted = (cases, number) => {
    const counts = {};
    for (const one of cases) {
      const verdict = verdictOf(one.results[number]);
      if (verdict !== null) counts[verdict] = (counts[verdict] || 0) + 1;
    }
    return counts;
  };
  const area = (clause) => (clause === NONE ? "" : clause.split("-")[0]);

  // ------------------------------------------------------------------------------------------ filters

  const chips = new Map();
  const there = new Set(data.cases.flatMap((one) => one.results.map(verdictOf)));
  for (const verdict of data.verdicts.filter((each) => there.has(each))) {
    const box = el("input", { type: "checkbox", value: verdict, onchange: () => show() });
    chips.set(verdict, box);
    find("chips").append(el("label", { class: "chip" }, box, el("span", {}, el("span", { class: "dot " + css(verdict) }), verdict)));
  }
  const filtered = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set([...chips].filter(([, box]) => box.checked).map(([verdict]) => verdict));
    return data.cases.filter((one) =>
      words.every((word) => one.words.includes(word)) &&
      (!wanted.size || one.results.some((result) => wanted.has(verdictOf(result)))) &&
      (!surprising.checked || one.results.some((result) => !isExpected(result))));
  };

  // ------------------------------------------------------------------------------------------ address

  const state = () => new URLSearchParams(location.hash.slice(1));
  const address = (values) => "#" + new URLSearchParams(values).toString();
  const go = (values) => { if (location.hash === address(values)) show(); else location.hash = address(values); };

  // ------------------------------------------------------------------------------------------ matrix

  const cellText = (counts) => {
    const scored = Object.entries(counts).filter(([verdict]) => verdict !== "not scored");
    const total = scored.reduce((sum, [, count]) => sum + count, 0);
    if (!total) return { text: Object.keys(counts).length ? "not scored" : "–", bad: 0, said: "not scored" };
    const right = scored.filter(([verdict]) => RIGHT.has(verdict)).reduce((sum, [, count]) => sum + count, 0);
    const bad = scored.filter(([verdict]) => FAULTS.has(verdict)).reduce((sum, [, count]) => sum + count, 0);
    const others = scored.filter(([verdict]) => verdict !== "pass").map(([verdict, count]) => count + " " + verdict);
    return { text: right + "/" + total, bad, said: [right + " of " + total + " right", ...others].join(", ") };
  };
  const cell = (clause, number, cases) => {
    const counts = counted(cases, number), { text, bad, said } = cellText(counts);
    const label = (clause || "without a clause") + ", " + LABELS[number] + ": " + said;
    const button = el("button", {
      class: "cell", type: "button", tabindex: -1, "aria-label": label, title: said, "data-clause": clause, "data-impl": number,
      onclick: () => go({ clause, impl: number }),
    }, text, bad ? el("span", { class: "worst" }, " " + bad + "✗") : "", stack(counts));
    return el("td", {}, button);
  };
  const row = (clause, cases) => {
    const known = data.clauses[clause];
    const name = el("button", { type: "button", class: "link mono", tabindex: -1, onclick: () => go({ clause }) }, clause || "none");
    const head = el("th", { scope: "row" }, name, known ? el("span", { class: "title" }, known.title) : "");
    return el("tr", { "data-clause": clause }, head, ...LABELS.map((_, number) => cell(clause, number, cases)));
  };
  const drawMatrix = (cases) => {
    const kept = matrix.contains(document.activeElement) ? document.activeElement.dataset : null;
    const groups = new Map();
    for (const one of cases) for (const clause of one.shown) {
      if (!groups.has(clause)) groups.set(clause, []);
      groups.get(clause).push(one);
    }
    const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Clause"), ...LABELS.map((label, number) => el("th", { scope: "col" }, breakable(data.names[number]), el("span", { class: "title" }, label.slice(data.names[number].length).trim())))));
    const table = el("table", { class: "matrix" }, head);
    for (const [prefix, title] of Object.entries(data.areas)) {
      const names = [...groups.keys()].filter((clause) => area(clause) === prefix).sort();
      if (!names.length) continue;
      const open = !folded.has(prefix);
      const within = [...new Set(names.flatMap((clause) => groups.get(clause)))];
      const fold = el("button", { type: "button", class: "fold", "aria-expanded": String(open), onclick: () => {
        if (open) folded.add(prefix); else folded.delete(prefix);
        show();
        const again = matrix.querySelector('[data-area="' + prefix + '"] button');
        if (again) again.focus();
      } }, title);
      const sums = LABELS.map((_, number) => el("td", {}, cellText(counted(within, number)).text));
      table.append(el("tbody", {}, el("tr", { class: "area", "data-area": prefix }, el("th", { scope: "rowgroup" }, fold), ...sums),
        ...(open ? names.map((clause) => row(clause, groups.get(clause))) : [])));
    }
    matrix.replaceChildren(groups.size ? table : el("p", { class: "soft", style: "padding: .6rem .9rem" }, "No case matches the filter."));
    const rows = stops();
    const again = kept && kept.clause !== undefined ? rows.flat().find((each) => each.dataset.clause === kept.clause && each.dataset.impl === kept.impl) : null;
    const first = again || (rows[0] && rows[0][0]);
    if (first) first.tabIndex = 0;
    if (again) again.focus({ preventScroll: true });
  };
  const stops = () => [...matrix.querySelectorAll("tr[data-clause]")].map((each) => [...each.querySelectorAll("button")]);
  matrix.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const rows = stops(), at = rows.findIndex((each) => each.includes(document.activeElement));
    if (!step || at < 0) return;
    const next = (rows[at + step[0]] || [])[rows[at].indexOf(document.activeElement) + step[1]];
    event.preventDefault();
    if (!next) return;
    document.activeElement.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  // ------------------------------------------------------------------------------------------ details

  const back = (text, values) => el("button", { type: "button", class: "link", onclick: () => go(values) }, text);
  const listed = (one, number) => {
    const numbers = number === null ? LABELS.map((_, each) => each) : [number];
    const badges = numbers.filter((each) => one.results[each] !== null)
      .map((each) => badge(verdictOf(one.results[each]), isExpected(one.results[each]), numbers.length > 1 ? data.names[each] : ""));
    const why = numbers.map((each) => whyOf(one.results[each])).find(Boolean) || "";
    return el("li", {}, el("button", { type: "button", onclick: () => go({ case: one.id }) },
      el("span", { class: "mono" }, one.id), el("span", { class: "badges" }, badges), why ? el("span", { class: "why" }, why) : ""));
  };
  const weight = (one, numbers) => Math.min(...numbers.map((number) => {
    const at = data.verdicts.indexOf(verdictOf(one.results[number]));
    return (isExpected(one.results[number]) ? data.verdicts.length : 0) + (at < 0 ? data.verdicts.length : at);
  }));
  const drawClause = (clause, number, cases) => {
    const known = data.clauses[clause], numbers = number === null ? LABELS.map((_, each) => each) : [number];
    const within = cases.filter((one) => one.shown.includes(clause)).sort((a, b) => weight(a, numbers) - weight(b, numbers));
    const head = el("div", { class: "bar" }, el("span", { class: "soft" }, plural(within.length, "case") + (number === null ? "" : " · " + LABELS[number])),
      number === null ? "" : back("all implementations", { clause }));
    return [el("h2", {}, clause ? el("span", { class: "mono" }, clause + " ") : "", known ? known.title : "Cases without a clause"),
      known ? el("p", { class: "soft" }, known.text) : "", head, el("ul", { class: "list" }, within.map((one) => listed(one, number)))];
  };
  const drawModule = (one) => {
    const { text, runs } = data.modules[one.module], lines = [[]], marks = new Set(one.marks);
    for (let at = 0, from = 0; at < runs.length; at += 2) {
      const pieces = text.slice(from, from + runs[at + 1]).split("\n");
      from += runs[at + 1];
      pieces.forEach((piece, number) => {
        if (number) lines.push([]);
        if (piece) lines[lines.length - 1].push(runs[at] ? el("span", { class: runs[at] }, piece) : piece);
      });
    }
    return el("div", { class: "code mono", role: "region", tabindex: 0, "aria-label": "module of " + one.id }, lines.map((line, number) =>
      el("div", { class: "row" + (marks.has(number + 1) ? " marked" : "") }, el("span", { class: "at" }, String(number + 1)), el("span", {}, line))));
  };
  const drawRows = (rows) => el("div", { class: "scroll" }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, ["element", "got", "recorded", "permitted"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(([label, index, got, recorded, permitted]) =>
      el("tr", {}, el("td", {}, label + index), el("td", {}, got), el("td", {}, recorded), el("td", {}, permitted || "recorded value only"))))));
  const drawResult = (one, number) => {
    const result = one.results[number], verdict = verdictOf(result);
    const kind = !isExpected(result) ? "bad" : RIGHT.has(verdict) ? "right" : verdict === "known" ? "known" : "none";
    const parts = [el("header", {}, badge(verdict, isExpected(result)), el("span", {}, LABELS[number]))];
    if (typeof result !== "string") {
      if (result.unexpected) parts.push(el("p", { class: "bad" }, result.unexpected));
      if (result.known) parts.push(el("p", {}, el("code", {}, result.known), " (" + result.was + "): " + result.reason));
      result.calls.forEach((call, at) => {
        if (!call.why && !call.got) return;
        const several = one.calls.length > 1 ? "call " + (at + 1) + ": " : "";
        if (call.why) parts.push(el("p", {}, several + call.why));
        if (call.rows.length) parts.push(drawRows(call.rows));
        if (call.got) parts.push(el("details", {}, el("summary", { class: "small" }, several + "full answer"), el("pre", {}, call.got)));
      });
    }
    return el("article", { class: "verdict " + kind }, parts);
  };
  const drawCase = (one) => {
    const clause = one.shown[0], links = one.clauses.map((name) => back(name, { clause: name }));
    const facts = [["clauses", links.length ? links : "none"], ["features", one.features.join(", ") || "none"], ["from", one.provenance || "unknown"], ["function", el("code", {}, one.func)]];
    const calls = one.calls.map((call, at) => [el("h3", {}, one.calls.length > 1 ? "Call " + (at + 1) : "Call"),
      el("p", { class: "soft small" }, "arguments"), el("pre", {}, call.args || "none"),
      el("p", { class: "soft small" }, "expected"), el("pre", {}, call.wanted)]);
    const order = LABELS.map((_, number) => number).filter((number) => one.results[number] !== null)
      .sort((a, b) => weight(one, [a]) - weight(one, [b]));
    const again = order.map((number) => "refmlc conform --impl '" + data.names[number] + "' --case '" + one.id + "'").join("\n");
    return [el("div", { class: "bar" }, back("← " + (clause || "cases without a clause"), { clause })), el("h2", { class: "mono" }, one.id),
      el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      el("h3", {}, "Verdicts"), order.map((number) => drawResult(one, number)), el("h3", {}, "Module"), drawModule(one), calls,
      el("h3", {}, "Reproduce"), el("pre", {}, again)];
  };
  const drawNothing = (cases) => {
    const all = LABELS.map((_, number) => number);
    const bad = cases.filter((one) => one.results.some((result) => !isExpected(result)));
    const worst = bad.sort((a, b) => weight(a, all) - weight(b, all)).slice(0, 50);
    if (!worst.length) return [el("h2", {}, "All verdicts as expected"), el("p", { class: "soft" }, "Choose a clause, or a cell of the matrix, to see its cases.")];
    return [el("h2", {}, "Not as expected"), el("p", { class: "soft" }, plural(bad.length, "case") + (bad.length > 50 ? ", the first 50" : "")),
      el("ul", { class: "list" }, worst.map((one) => listed(one, null)))];
  };

  // ------------------------------------------------------------------------------------------ all

  const show = (moved) => {
    const cases = filtered(), now = state(), one = byId.get(now.get("case")), number = now.has("impl") ? Number(now.get("impl")) : null;
    drawMatrix(cases);
    find("shown").textContent = cases.length === data.cases.length ? plural(cases.length, "case") : cases.length.toLocaleString("en") + " of " + plural(data.cases.length, "case");
    const clause = now.has("clause") ? now.get("clause") : null;
    detail.replaceChildren(...(one ? drawCase(one) : clause !== null ? drawClause(clause, LABELS[number] === undefined ? null : number, cases) : drawNothing(cases)).flat(Infinity).filter((part) => part !== ""));
    for (const each of matrix.querySelectorAll("tr[data-clause]")) {
      each.classList.toggle("here", one ? one.shown.includes(each.dataset.clause) : each.dataset.clause === clause);
    }
    if (moved && (one || clause !== null)) {
      detail.focus({ preventScroll: true });
      const narrow = detail.offsetTop > matrix.offsetTop + 10;
      if (narrow || detail.getBoundingClientRect().top < 0) detail.scrollIntoView();
    }
  };
  addEventListener("hashchange", () => show(true));
  query.addEventListener("input", () => show());
  surprising.addEventListener("change", () => show());
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && location.hash) {
      const now = state(), one = byId.get(now.get("case"));
      go(one ? { clause: one.shown[0] } : {});
      matrix.focus({ preventScroll: true });
    }
  });
  find("filters").hidden = false;
  find("main").hidden = false;
  show();
})();
