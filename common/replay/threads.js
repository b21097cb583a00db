"use strict";
// The source with the warps that stand at its lines, the threads of the block by state, and the variables of one.

const LETTERS = {runs: "R", ready: "r", out: "o", barrier: "B", warp: "W", ended: "E", none: "–"};
const MEANING = {runs: "runs now", ready: "goes on next", out: "out of this branch", barrier: "waits at the barrier",
  warp: "waits for its warp", ended: "has ended", none: "not begun"};
const WORDS = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(__\w+__|if|else|for|while|do|return|const|constexpr|template|class|struct|void|int|float|double|unsigned|bool|char|auto|switch|case|break|continue|typename|using|static|extern|inline|size_t|u?int(?:8|16|32|64)_t)\b/g;

const byId = name => document.getElementById(name);
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
// How far below the beginning of what a box holds.
const topIn = (box, one) => one.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
// Numbers as they are counted: 0–3, 7, 9–11.
function spans(numbers) {
  const parts = [];
  for (let i = 0; i < numbers.length;) {
    let end = i;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) ++end;
    parts.push(end > i + 1 ? `${numbers[i]}–${numbers[end]}` : numbers.slice(i, end + 1).join(", "));
    i = end + 1;
  }
  return parts.length > 4 ? parts.slice(0, 3).join(", ") + ", …" : parts.join(", ");
}
function index3(numbered, shape) {
  const index = [numbered % shape[0], Math.floor(numbered / shape[0]) % shape[1], Math.floor(numbered / shape[0] / shape[1])];
  return shape[1] * shape[2] > 1 ? `(${index.slice(0, shape[2] > 1 ? 3 : 2).join(", ")})` : String(index[0]);
}

class Threads {
  constructor(film, values, view) {
    Object.assign(this, {film, values, view});
    this.file = -1;
    byId("legend").append(...Object.keys(LETTERS).map(name => element("span", {},
      element("b", {class: `t ${name}`, text: LETTERS[name]}), ` ${MEANING[name]}`)));
    byId("warps").onclick = event => {
      const cell = event.target.closest("b[data-t]");
      if (cell) view.follow(Number(cell.dataset.t));
    };
    byId("warps").onkeydown = event => {
      const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -32, ArrowDown: 32}[event.key];
      if (!by) return;
      view.follow(view.thread + by);
      event.preventDefault();
      event.stopPropagation();
    };
  }

  // What each thread of a warp is doing, and where those stand that go on next.
  warp(step, warp) {
    const {film} = this, count = film.threadCount(step), names = [];
    const ran = film.step_warp[step] === warp ? film.step_mask[step] : 0;
    let next = -1;
    const lanes = [];
    for (let t = warp * 32; t < Math.min(count, warp * 32 + 32); ++t) {
      lanes.push(t);
      if (film.state[t] !== STANDS) continue;
      const deeper = next < 0 || film.depth[t] > film.depth[next];
      if (deeper || film.depth[t] === film.depth[next] && film.place[t] < film.place[next]) next = t;
    }
    for (const t of lanes) {
      const state = film.state[t];
      if (ran >>> (t % 32) & 1 && (state === STANDS || state === ENDED)) names.push("runs");
      else if (state === STANDS) names.push(film.place[t] === film.place[next] ? "ready" : "out");
      else names.push({[AT_BARRIER]: "barrier", [IN_WARP]: "warp", [ENDED]: "ended", [NOT_BEGUN]: "none"}[state]);
    }
    return {lanes, names, next};
  }
  // In words where a warp is.
  whereabouts(step, warp) {
    const {film} = this, {lanes, names, next} = this.warp(step, warp), parts = [];
    const waiting = lanes.filter(t => film.state[t] === AT_BARRIER || film.state[t] === IN_WARP);
    if (next >= 0) parts.push(`line ${film.line(film.place[next])}`);
    if (waiting.length) {
      const line = film.line(film.place[waiting[0]]);
      parts.push(waiting.length === lanes.length ? `waits, line ${line}` : `${waiting.length} wait, line ${line}`);
    }
    if (names.every(name => name === "ended") || lanes.every(t => film.state[t] === ENDED)) parts.push("ended");
    return parts.join("; ");
  }

  show(step) {
    const {film, view} = this, launch = film.launch(step), count = film.threadCount(step), warps = Math.ceil(count / 32);
    const panel = byId("warps");
    if (panel.dataset.shape !== String(count)) {
      panel.dataset.shape = count;
      this.cells = [];
      this.notes = [];
      panel.replaceChildren(...Array.from({length: warps}, (_, warp) => {
        const row = element("div", {class: "warp"}, element("i", {}, element("span", {text: "warp "}), String(warp)));
        const lanes = element("span", {class: "lanes"});
        for (let t = warp * 32; t < Math.min(count, warp * 32 + 32); ++t)
          lanes.append(this.cells[t] = element("b", {class: "t none", "data-t": t, title: `thread ${index3(t, launch.block)}`}));
        row.append(lanes, this.notes[warp] = element("em"));
        return row;
      }));
    }
    const standing = new Map();  // by line: warps with how many of their lanes
    for (let warp = 0; warp < warps; ++warp) {
      const {lanes, names} = this.warp(step, warp);
      lanes.forEach((t, i) => {
        const wanted = `t ${names[i]}${t === view.thread ? " followed" : ""}`;
        if (this.cells[t].className !== wanted) {
          this.cells[t].className = wanted;
          this.cells[t].textContent = LETTERS[names[i]];
        }
        if (film.state[t] === ENDED || film.state[t] === NOT_BEGUN) return;
        const key = film.place[t] ? film.known.places[film.place[t]].slice(0, 2).join(":") : "";
        if (!standing.has(key)) standing.set(key, new Map());
        standing.get(key).set(warp, (standing.get(key).get(warp) || 0) + 1);
      });
      const note = this.whereabouts(step, warp);
      if (this.notes[warp].textContent !== note) this.notes[warp].textContent = note;
      this.notes[warp].parentNode.classList.toggle("now", film.step_warp[step] === warp);
    }
    byId("order").textContent = `one of many orders: ${{forward: "warps in turn", reversed: "from the last warp on"}[film.known.order] || `warps at random (${film.known.order})`}`;
    const block = film.block(step), blocks = film.blocks.filter(one => one.launch === block.launch && !one.before);
    byId("where").textContent = `block ${index3(block.number, launch.grid)} of ${launch.grid.filter((n, i) => i === 0 || n > 1).join(" × ")}, ` +
      `${launch.block.filter((n, i) => i === 0 || n > 1).join(" × ")} thread${count > 1 ? "s" : ""}`;
    const letter = one => one === block.first ? "●" : one.ends <= block.step ? "E" : one.step < block.step ? "B" : "–";
    if (this.shownBlock !== block) byId("grid").replaceChildren(...(blocks.length > 1 ? blocks.slice(0, 256).map(one => element("b", {
      class: one === block.first ? "now" : one.ends <= block.step ? "done" : "", text: letter(one)})) : []));
    this.shownBlock = block;
    this.showSource(step, standing);
    this.showVariables(step);
  }
  // Brings the warp and the line into sight; behind all that changes the page, which would be laid out again for each look.
  reveal(step) {
    const row = this.notes[this.film.step_warp[step]]?.parentNode, box = byId("threads"), lines = byId("lines");
    if (row && box.scrollHeight > box.clientHeight) {
      const top = topIn(box, row);
      if (top < box.scrollTop || top + 30 > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
    }
    const at = this.target ? topIn(lines, this.target) : lines.scrollTop + 40;
    if (at < lines.scrollTop + 40 || at > lines.scrollTop + lines.clientHeight - 60) lines.scrollTop = at - lines.clientHeight / 3;
  }

  showSource(step, standing) {
    const {film, view} = this, {known} = film;
    const ran = film.step_place[step] && known.places[film.step_place[step]], own = known.places[film.place[view.thread]];
    const file = view.file ?? (ran ? ran[0] : own ? own[0] : this.file < 0 ? 0 : this.file);
    if (file !== this.file) {
      this.file = file;
      byId("files").replaceChildren(...(known.files.length > 1 ? known.files.map((one, i) => element("button", {
        text: one.name, "aria-pressed": i === file, onclick: () => { view.file = i; view.show(); view.file = undefined; }})) : [known.files[file].name]));
      const markers = /^\s*\/\/(:| (BEGIN|END) SOLUTION)/;  // of what a learner does not see
      this.lines = known.files[file].text.replace(/\n$/, "").split("\n").map((text, i) => {
        const code = element("code");
        let last = 0;
        for (const match of text.matchAll(WORDS)) {
          code.append(text.slice(last, match.index), element(match[1] ? "q" : match[2] ? "s" : "strong", {text: match[0]}));
          last = match.index + match[0].length;
        }
        code.append(text.slice(last));
        return element("div", {"data-line": i + 1, ...markers.test(text) ? {hidden: ""} : {}}, element("u"), element("i", {text: i + 1}), code);
      });
      byId("lines").replaceChildren(...this.lines);
    }
    this.marked?.forEach(line => { line.className = ""; line.firstChild.replaceChildren(); });
    this.marked = [];
    const mark = (number, name) => {
      const line = this.lines[number - 1];
      if (!line) return;
      line.classList.add(name);
      this.marked.push(line);
      return line;
    };
    for (const [key, warps] of standing) {
      const [where, line] = key.split(":").map(Number);
      const row = where === file && mark(line, "stands");
      if (!row) continue;
      const numbers = [...warps.keys()].sort((a, b) => a - b);
      row.firstChild.textContent = `w${spans(numbers)}`;
      row.firstChild.title = numbers.map(warp => `warp ${warp}: ${warps.get(warp)} lanes`).join(", ");
    }
    if (ran && ran[0] === file) mark(ran[1], "ran");
    if (own && own[0] === file && film.state[view.thread] !== ENDED) mark(own[1], "own");
    for (const fault of known.faults.filter(one => one.step === step)) fault.lines.forEach(line => mark(line, "fault"));
    this.target = ran && ran[0] === file ? this.lines[ran[1] - 1] : own && this.lines[own[1] - 1];
  }

  showVariables(step) {
    const {film, values, view} = this, {known} = film, shape = film.launch(step).block;
    const state = film.state[view.thread];
    byId("who").textContent = `of thread ${index3(view.thread, shape)} (warp ${view.thread >> 5}, lane ${view.thread % 32})`;
    const frames = film.frames(view.thread, step);
    const line = film.line(film.place[view.thread]);
    const said = {[STANDS]: `stands in front of line ${line}`, [AT_BARRIER]: `waits at the barrier of line ${line}`,
      [IN_WARP]: `waits in line ${line} for the other lanes`, [ENDED]: "has ended", [NOT_BEGUN]: "has not begun"}[state];
    const parts = [element("p", {text: said})];
    for (const frame of frames.reverse()) {
      const table = element("table"), rows = new Map();
      const place = known.places[frame.place];
      if (place) parts.push(element("h3", {text: `${known.functions[place[2]][0]}${frames.length > 1 ? `, line ${place[1]}` : ""}`}));
      for (const [row, found] of frame.rows) {
        const {index, at} = film.variableOfRow[row];
        const size = values.types[known.variables[index][1]].size;
        if (!rows.has(index)) rows.set(index, {bytes: new Uint8Array(size), isNew: false});
        rows.get(index).bytes.set(found.bytes, at);
        rows.get(index).isNew ||= found.isNew;
      }
      for (const [index, {bytes, isNew}] of [...rows].sort((a, b) => a[0] - b[0])) {
        const [name, type] = known.variables[index], one = values.types[type];
        if (one.kind === "reference" && values.types[one.of].kind === "array") continue;  // stands in memory
        table.append(element("tr", {class: isNew ? "new" : ""}, element("th", {text: name}),
          element("td", {text: values.text(type, bytes)}), element("td", {class: "type", text: one.name})));
      }
      parts.push(table);
    }
    byId("frames").replaceChildren(...parts);
  }
}
