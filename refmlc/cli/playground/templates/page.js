"use strict";
(() => {
    const at = (id) => document.getElementById(id);
    const examples = JSON.parse(at("data").textContent).examples;
    const editor = at("module"), gutter = at("gutter"), tabs = [...document.querySelectorAll("[role=tab]")];
    let marks = [], working = false;

    /* An element with a text; everything from the server becomes text here, never HTML. */
    const made = (name, text = "", kind = "") => {
        const element = document.createElement(name);
        element.textContent = text;
        element.className = kind;
        return element;
    };

    const table = (head, rows) => {
        const element = made("table"), first = made("tr");
        first.append(...head.map((text) => made("th", text)));
        const lines = rows.map((cells) => {
            const row = made("tr");
            row.append(...cells.map((text) => made("td", text)));
            return row;
        });
        element.append(first, ...lines);
        return element;
    };

    const number = () => {
        const count = editor.value.split("\n").length;
        const words = new Map();
        for (const mark of marks) words.set(mark.line, [...(words.get(mark.line) ?? []), mark.message]);
        gutter.replaceChildren(...Array.from({ length: count }, (_, index) => {
            const row = made("div", String(index + 1), words.has(index + 1) ? "bad" : "");
            row.title = (words.get(index + 1) ?? []).join("\n");
            return row;
        }));
        gutter.scrollTop = editor.scrollTop;
    };

    const go = (line) => {
        const lines = editor.value.split("\n");
        const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
        editor.focus();
        editor.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
        editor.scrollTop = Math.max(0, (line - 6) * (editor.scrollHeight / lines.length));
    };

    const say = (text, kind = "") => {
        at("status").textContent = text;
        at("status").className = kind;
    };

    const open = (id) => {
        for (const tab of tabs) {
            const chosen = tab.getAttribute("aria-controls") === id;
            tab.setAttribute("aria-selected", String(chosen));
            at(tab.getAttribute("aria-controls")).hidden = !chosen;
        }
    };

    /* The answer of the server, or null: it has none, and the status says why. One request at a time. */
    const ask = async (request) => {
        if (working) return null;
        working = true;
        at("check").disabled = at("record").disabled = true;
        say("working …");
        try {
            const response = await fetch("ask", {
                method: "POST",
                headers: { "Content-Type": "application/json" },
                body: JSON.stringify(request),
            });
            if (!response.ok) {
                say(await response.text(), "bad");
                return null;
            }
            const reply = await response.json();
            say("");
            return reply;
        } catch {
            say("the server does not answer: is `refmlc play` running?", "bad");
            return null;
        } finally {
            working = false;
            at("check").disabled = at("record").disabled = false;
        }
    };

    const finding = (each) => {
        const box = made("div", "", "finding");
        if (each.line) {
            const button = made("button", `line ${each.line}`);
            button.addEventListener("click", () => go(each.line));
            box.append(button);
        }
        box.append(made("pre", each.text));
        return box;
    };

    const buffers = ["buffer", "dtype", "shape", "strides", "scope", "bytes"];
    const laid = (each) => {
        const parts = [made("h2", each.function)];
        if (each.graph) {
            const picture = made("img");
            picture.alt = `graph of ${each.function}`;
            picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(each.graph)}`;
            parts.push(picture);
        }
        if (each.buffers.length) parts.push(table(buffers, each.buffers));
        if (each.loops.length) parts.push(made("pre", each.loops.join("\n")));
        return parts;
    };

    const check = async () => {
        const reply = await ask({ do: "check", module: editor.value });
        if (reply === null) return;
        say(reply.summary, reply.ok ? "good" : "bad");
        marks = reply.marks;
        number();
        const verdicts = reply.rows ? [table(reply.columns, reply.rows)] : [];
        verdicts.push(...reply.findings.map(finding));
        if (reply.rows) {
            const all = made("details");
            all.append(made("summary", "The whole report"), made("pre", reply.text));
            verdicts.push(all);
        }
        at("verdicts").replaceChildren(...verdicts);
        at("layout").replaceChildren(...(reply.layout ?? []).flatMap(laid));
        at("shown").replaceChildren(made("pre", reply.shown ?? ""));
        const choices = [["", "the first with a finding, or the first"], ...(reply.calls ?? []).map((text, index) => [index, text])];
        at("calls").replaceChildren(...choices.map(([value, text]) => {
            const option = made("option", text);
            option.value = value;
            return option;
        }));
        at("frame").replaceChildren();
        at("recorded").textContent = "";
        at("printed").hidden = true;
        if (!at("trace").hidden && reply.calls) await record();
    };

    const record = async () => {
        const chosen = at("calls").value;
        const reply = await ask({ do: "trace", module: editor.value, call: chosen === "" ? null : Number(chosen) });
        if (reply === null) return;
        if (!reply.trace) {
            say(reply.summary, "bad");
            marks = reply.marks;
            number();
            at("frame").replaceChildren(made("pre", reply.text));
            return;
        }
        const frame = made("iframe");
        frame.title = "Trace";
        frame.setAttribute("sandbox", "allow-scripts");
        frame.src = reply.trace;
        at("frame").replaceChildren(frame);
        at("recorded").textContent = `a call of ${reply.function}`;
        at("printed").textContent = reply.printed;
        at("printed").hidden = !reply.printed;
    };

    at("examples").replaceChildren(...examples.map((example, index) => {
        const option = made("option", example.title);
        option.value = index;
        return option;
    }));
    at("examples").addEventListener("change", () => {
        editor.value = examples[Number(at("examples").value)].text;
        editor.scrollTop = 0;
        marks = [];
        number();
        check();
    });
    editor.addEventListener("input", () => {
        marks = [];
        number();
    });
    editor.addEventListener("scroll", () => { gutter.scrollTop = editor.scrollTop; });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            check();
        }
    });
    for (const tab of tabs) {
        tab.addEventListener("click", () => {
            open(tab.getAttribute("aria-controls"));
            if (tab.id === "tab-trace" && at("calls").options.length && !at("frame").firstChild) record();
        });
    }
    at("check").addEventListener("click", check);
    at("record").addEventListener("click", record);
    editor.value = examples[0].text;
    number();
})();
