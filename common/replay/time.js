"use strict";
// Time: what the step says in words, the slider with its marks, the keys, and the address of a moment.

const STRIDES = [
  ["warp", "step", "s", "one step of a warp"], ["all", "all warps", "a", "one step of every warp"],
  ["thread", "thread", "t", "the next step of the followed thread"], ["barrier", "barrier", "b", "where a barrier opens"],
  ["cell", "cell", "c", "the next access to the chosen cell"], ["fault", "fault", "f", "the next fault"],
  ["block", "block", "n", "the next block"]];
const KEYS = [["→ ←", "forward and back, as far as is chosen below the slider"],
  ...STRIDES.map(([, , key, what]) => [`${key} ${key.toUpperCase()}`, `${what}; the capital goes back`]),
  ["Home End", "the beginning, the end"], ["space", "play, stop"], [". ,", "follow the next thread, the one before"],
  ["m", "choose a cell of the next array: what the step reads or writes, else its first"], ["] [", "the next cell, the one before"], ["p", "predict: be asked before a step; 1 to 4 answer"],
  ["l", "light, dark"], ["?", "this list"]];
const MEANINGS = [["warp", "32 threads of a block, which take their steps together"], ["lane", "a thread's place in its warp, 0 to 31"],
  ["barrier", "__syncthreads(): a thread waits there until all of its block have come"],
  ["race", "two threads use one element, one of them writes, and nothing between says who is first; if the result is right, then by chance"],
  ["uninitialised", "a thread reads what nobody has written so far (·); a float that is computed of it is NaN here, on a GPU anything"],
  ["atomic (a)", "a read, a change and a write of one element that no other thread can come between"],
  ["bank", "a word of shared memory lies in one of 32 banks; a bank gives one word at a time"],
  ["wavefront", "a pass over shared memory: a step takes as many as its busiest bank has words to give"],
  ["sector", "32 bytes of global memory, which come together"]];

// Which elements, as short as it can be said: part[0 … 31].
function elementsText(values, array, indices) {
  const sorted = [...new Set(indices)].sort((a, b) => a - b);
  if (sorted.length === 1) return values.indexText(array, sorted[0]);
  const by = sorted[1] - sorted[0];
  if (array.parts) return `${values.indexText(array, sorted[0])} … ${values.indexText(array, sorted[sorted.length - 1])}` + (by === 1 ? "" : ` (${sorted.length} elements)`);
  if (sorted.length > 2 && sorted.every((index, i) => index === sorted[0] + i * by)) {
    const last = sorted[sorted.length - 1], side = array.shape[array.shape.length - 1];
    if (array.declared && array.shape.length === 2) {
      const row = index => Math.floor(index / side), column = sorted[0] % side;
      if (by === side) return `${array.title}[${row(sorted[0])} … ${row(last)}][${column}]`;
      if (by === 1 && row(last) === row(sorted[0])) return `${array.title}[${row(last)}][${column} … ${last % side}]`;
      return `${values.indexText(array, sorted[0])} … ${values.indexText(array, last)}`;
    }
    return `${array.title}[${by === 1 ? "" : `${sorted[0]}, ${sorted[1]} … `}${by === 1 ? `${sorted[0]} … ` : ""}${last}]`;
  }
  if (sorted.length <= 4) return `${array.title}[${sorted.join(", ")}]`;
  return `${sorted.length} elements of ${array.title}`;
}

// In one dimension 5 is as good as (5,0,0).
function shortIndices(sentence, {grid, block}) {
  return sentence.replace(/\b(thread|block) \((\d+),0,0\)/g, (text, word, number) =>
    (word === "thread" ? block : grid).slice(1).every(side => side === 1) ? `${word} ${number}` : text);
}

const firstSentence = ({sentence}) => sentence.match(/^.*?\.(?=\s|$)|^.*/s)[0];

class View {
  constructor(film, values) {
    Object.assign(this, {film, values, step: 0, thread: 0, cell: null, stride: "warp", timer: 0});
    this.threads = new Threads(film, values, this);
    this.memory = new MemoryTables(film, values, this);
    this.predict = new Predict(film, values, this);
    this.faults = film.known.faults.map(fault => {
      const step = Math.min(fault.step, film.steps - 1);
      return {...fault, step, sentence: shortIndices(fault.sentence, film.launch(step))};
    });
    film.known.faults = this.faults;
    this.prepare();
    this.readAddress();
    this.show();
    addEventListener("hashchange", () => { this.readAddress(); this.show(); });
    addEventListener("resize", () => { this.memory.resized(); this.show(); });
    addEventListener("keydown", event => this.key(event));
  }

  prepare() {
    const {film} = this, {known} = film, slider = byId("slider");
    byId("command").textContent = known.command;
    slider.max = film.steps - 1;
    slider.oninput = () => this.go(Number(slider.value));
    byId("forward").onclick = () => this.forward();
    byId("back").onclick = () => this.move(-1);
    byId("play").onclick = () => this.play();
    byId("predict").onclick = () => this.predict.toggle();
    byId("help").onclick = () => this.help();
    byId("light").onclick = () => this.light();
    byId("keys").onclick = () => byId("keys").close();
    byId("strides").append(...STRIDES.map(([name, text, key, what]) => element("button", {
      role: "radio", text, title: `${what} (${key})`, "data-stride": name, onclick: () => { this.stride = name; this.showStride(); }})));
    const launches = byId("launch");
    film.launches.forEach((launch, i) => launches.append(element("option", {value: i, text: `${i + 1}: ${launch.kernel}`})));
    byId("launches").hidden = film.launches.length < 2;
    launches.onchange = () => this.go(film.blocks.find(block => block.launch === Number(launches.value)).step);
    byId("block").onchange = () => this.go(film.blocks[Number(byId("block").value)].step);
    const marks = byId("marks"), at = step => `left: ${100 * step / Math.max(1, film.steps - 1)}%`;
    if (film.blocks.length <= 200) marks.append(...film.blocks.map(block => element("i", {class: "block", style: at(block.step)})));
    if (film.barriers.length <= 400) marks.append(...film.barriers.map(step => element("i", {class: "barrier", style: at(step)})));
    marks.append(...this.faults.map(fault => element("i", {class: "fault", style: at(fault.step), text: "!"})));
    byId("faults").hidden = !this.faults.length;
    byId("faults").querySelector("ol").append(...this.faults.map(fault => element("li", {}, element("button", {
      text: `! step ${fault.step}: ${fault.kind}${fault.lines.length ? `, line${fault.lines.length > 1 ? "s" : ""} ${spans(fault.lines)}` : ""}`, onclick: () => this.goFault(fault)}),
    element("p", {}, element("span", {text: firstSentence(fault)}),
      `${fault.sentence.slice(firstSentence(fault).length)} ${this.comesTooLate(fault)}`))));
    byId("task").textContent = known.task;
    byId("task").hidden = !known.task;
    if (known.left_out.length) byId("said").append(element("p", {class: "left", text: known.left_out.join(" ")}));
    for (const one of document.querySelectorAll("#task, .left")) one.onclick = () => one.classList.toggle("open");
  }

  // Who writes the element later that a thread has read too early; "" where nobody does, or nothing was read.
  comesTooLate({kind, address, step}) {
    const {film} = this, array = film.arrayAt(address, film.block(step).launch);
    if (kind !== "uninitialised" || !array) return "";
    const end = film.accessStart[film.block(step).end], offset = address - array.start;
    for (let i = film.accessStart[step + 1]; i < end; ++i) {
      if (film.access_array[i] !== array.number || film.access_what[i] === LOAD || film.access_thread[i] === 0xffff) continue;
      if (film.access_offset[i] <= offset && film.access_offset[i] + film.access_size[i] > offset)
        return `Too late, thread ${index3(film.access_thread[i], film.launch(step).block)} writes it, at step ${film.stepOf(i)}.`;
    }
    return "";
  }

  // ---------------------------------------------------------------- where to
  go(step) {
    this.step = Math.max(0, Math.min(this.film.steps - 1, step));
    this.show();
  }
  goFault(fault) {
    const array = this.film.arrayAt(fault.address, this.film.block(fault.step).launch);
    if (array) this.cell = {array: array.number, index: Math.floor((fault.address - array.start) / this.values.elementSize(array))};
    this.go(fault.step);
  }
  // The step that a stride leads to; undefined where there is none.
  target(stride, by, from = this.step) {
    const {film} = this, inside = step => step >= 0 && step < film.steps;
    const among = list => by > 0 ? list.find(step => step > from) : [...list].reverse().find(step => step < from);
    const seek = holds => {
      let step = from + by;
      while (inside(step) && !holds(step)) step += by;
      return inside(step) ? step : undefined;
    };
    switch (stride) {
      case "warp": return inside(from + by) ? from + by : undefined;
      case "all": {
        const seen = new Set();
        let step = from;
        while (inside(step + by)) {
          const next = by > 0 ? step + 1 : step;
          if (seen.has(film.step_warp[next])) break;
          seen.add(film.step_warp[next]);
          step += by;
        }
        return step === from ? undefined : step;
      }
      case "thread": return seek(step => film.step_warp[step] === this.thread >> 5 && film.step_mask[step] >>> (this.thread % 32) & 1);
      case "barrier": return among(film.barriers);
      case "fault": return among(this.faults.map(fault => fault.step).sort((a, b) => a - b));
      case "block": return among(film.blocks.map(block => block.step));
      case "cell": {
        if (!this.cell) return undefined;
        const size = this.values.elementSize(film.arrays[this.cell.array]), begin = this.cell.index * size;
        return seek(step => {
          for (let i = film.accessStart[step]; i < film.accessStart[step + 1]; ++i) {
            if (film.access_array[i] === this.cell.array && film.access_offset[i] < begin + size &&
                film.access_offset[i] + film.access_size[i] > begin) return true;
          }
          return false;
        });
      }
    }
  }
  move(by, stride = this.stride) {
    const step = this.target(stride, by);
    if (step !== undefined) {
      const fault = stride === "fault" && this.faults.find(one => one.step === step);
      return fault ? this.goFault(fault) : this.go(step);
    }
    this.say();  // what the step did stays
    byId("then").prepend(stride === "cell" && !this.cell ? "Choose a cell of memory first (m, or a click). "
      : `There is no ${by > 0 ? "later" : "earlier"} ${{fault: "fault", barrier: "barrier", block: "block", cell: "access to this cell",
        thread: "step of this thread"}[stride] || "step"}. `);
  }
  forward() { return this.predict.on ? this.predict.ask() : this.move(1); }
  play() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = 0;
    } else {
      this.timer = setInterval(() => this.target(this.stride, 1) === undefined ? this.play() : this.move(1), 500);
    }
    byId("play").textContent = this.timer ? "stop" : "play";
  }
  follow(thread) {
    this.thread = Math.max(0, Math.min(this.film.threadCount(this.step) - 1, thread));
    this.show();
  }
  choose(array, index) {
    if (this.predict.answerCell(array, index)) return;
    this.cell = {array, index};
    this.show(true);
  }
  chooseBy(by, nextArray) {
    const list = this.memory.ofLaunch(this.film.block(this.step).launch);
    if (!list.length) return;
    const at = list.findIndex(array => this.cell && array.number === this.cell.array);
    const array = list[nextArray || at < 0 ? (at + 1) % list.length : at], {size, count} = this.memory.layout(array);
    const touched = this.film.accesses(this.step).filter(one => one.array === array.number);
    const index = !nextArray && at >= 0 ? this.cell.index + by : touched.length ? this.memory.touchedFirst(touched, size) : 0;
    this.cell = {array: array.number, index: Math.max(0, Math.min(count - 1, index))};
    this.memory.reveal(array, this.cell.index);
  }

  // ---------------------------------------------------------------- what is seen
  show(sameMoment = false) {
    const {film} = this;
    film.go(this.step);
    this.thread = Math.min(this.thread, film.threadCount(this.step) - 1);
    byId("slider").value = this.step;
    byId("count").textContent = `step ${this.step} of ${film.steps - 1}`;
    const block = film.block(this.step), launch = film.launches[block.launch];
    byId("launch").value = block.launch;
    const choice = byId("block");
    if (choice.dataset.launch !== String(block.launch)) {
      choice.dataset.launch = block.launch;
      choice.replaceChildren(...film.blocks.flatMap((one, i) => one.launch === block.launch
        ? [element("option", {value: i, text: index3(one.number, launch.grid) + (one.before ? " goes on" : "")})] : []));
      byId("blocks").hidden = choice.children.length < 2;
    }
    choice.value = film.blockOf[this.step];
    this.threads.show(this.step);
    this.memory.show(this.step, !sameMoment);
    if (!sameMoment) this.say();
    this.showStride();
    const laid = film.arrays.filter(array => this.memory.option(array).laid).map(array => array.number);
    document.body.classList.toggle("under_way", this.step > 0);
    this.threads.reveal(this.step);
    this.memory.revealStep();
    const words = {step: this.step, thread: this.thread, ...this.cell ? {cell: `${this.cell.array}.${this.cell.index}`} : {}, ...laid.length ? {laid: laid.join(".")} : {}};
    this.address = "#" + new URLSearchParams(words);
    this.later ||= setTimeout(() => {  // browsers refuse more than some in a second
      this.later = 0;
      history.replaceState(null, "", this.address);
    }, 100);
  }
  say() {
    const {film} = this, [first, then] = this.sentences(this.step);
    byId("sentence").textContent = first;
    byId("then").textContent = then;
    const faults = this.faults.filter(fault => fault.step === this.step);
    byId("said").classList.toggle("faulty", faults.length > 0);
    for (const fault of faults.slice(0, 1)) byId("then").append(element("b", {class: "fault", text: ` ! ${firstSentence(fault)}`}));
    if (faults.length > 1) byId("then").append(element("b", {class: "fault", text: ` ! ${faults.length - 1} more below.`}));
    [...byId("faults").querySelectorAll("li")].forEach((line, i) => line.classList.toggle("now", this.faults[i].step === this.step));
    const current = byId("faults").querySelector("li.now"), box = byId("faults");
    if (current && box.scrollHeight > box.clientHeight) box.scrollTop = topIn(box, current) - 4;
    if (this.step === film.steps - 1) byId("then").append(element("b", {text: " The film ends here."}));
  }
  showStride() {
    for (const button of byId("strides").children) button.setAttribute("aria-checked", button.dataset.stride === this.stride);
  }

  // What a step does, and what comes of it.
  sentences(step) {
    const {film, values} = this, warp = film.step_warp[step], launch = film.launch(step), block = film.block(step);
    if (warp === 0xffff) {
      const grid = launch.grid.reduce((a, b) => a * b, 1) > 1 ? `Block ${index3(block.number, launch.grid)}` : "The block";
      return [`${grid} of ${launch.kernel} begins.`, `Its ${film.threadCount(step) > 1 ? `${film.threadCount(step)} threads stand` : "thread stands"} in front of line ${film.line(film.place[0])}.`];
    }
    const mask = film.step_mask[step], lanes = [];
    for (let lane = 0; lane < 32; ++lane) if (mask >>> lane & 1) lanes.push(lane);
    const size = Math.min(32, film.threadCount(step) - warp * 32);
    const who = lanes.length === size ? (size === 1 ? "" : `, all ${size} lanes`) : `, lane${lanes.length > 1 ? "s" : ""} ${spans(lanes)}`;
    const groups = new Map();
    for (const one of film.accesses(step)) {
      const key = `${one.what}.${one.array}`;
      groups.set(key, [...groups.get(key) || [], one]);
    }
    const parts = [...groups.values()].map(group => {
      const array = film.arrays[group[0].array], element = values.elementSize(array);
      const text = elementsText(values, array, group.map(one => Math.floor(one.offset / element)));
      const value = group[0].what !== LOAD && new Set(group.map(one => one.offset)).size === 1
        ? `, now ${values.element(array, Math.floor(group[0].offset / element)).text}` : "";
      const few = group.length < lanes.length ? ` (${group.length} lane${group.length > 1 ? "s" : ""})` : "";
      return `${["reads", "writes", "updates atomically"][group[0].what]} ${text}${value}${few}`;
    });
    const first = `Warp ${warp}${who}: line ${film.line(film.step_place[step])} ${parts.length ? parts.join("; ") : "runs"}.`;
    return [first, this.outcome(step, warp, lanes)];
  }
  outcome(step, warp, lanes) {
    const {film} = this, ways = new Map(), now = film.line(film.step_place[step]);
    for (const lane of lanes) {
      const thread = warp * 32 + lane, state = film.state[thread], line = film.line(film.place[thread]);
      const way = state === STANDS ? line === now ? `still in line ${line}` : `line ${line} next` : state === AT_BARRIER ? `at the barrier of line ${line}`
        : state === IN_WARP ? `wait in line ${line} for their warp` : "ended";
      ways.set(way, [...ways.get(way) || [], lane]);
    }
    let text = ways.size === 1 ? `Then: ${[...ways.keys()][0]}.`
      : "Then: " + [...ways].map(([way, some]) => `${some.length} lane${some.length > 1 ? "s" : ""} (${spans(some)}) ${way}`).join("; ") + ".";
    if (film.barriers.includes(step)) text += " All have arrived: the barrier opens.";
    return text;
  }

  // ---------------------------------------------------------------- keys, address, light
  key(event) {
    const isLetter = event.getModifierState("AltGraph");  // where [ and ] are typed with it
    if (!isLetter && (event.ctrlKey || event.altKey || event.metaKey) || byId("keys").open && event.key !== "?") return;
    if (["SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.target.id === "slider" && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    if (this.predict.key(event.key)) return event.preventDefault();
    const stride = STRIDES.find(([, , key]) => key === event.key.toLowerCase());
    const act = stride ? () => this.move(event.shiftKey ? -1 : 1, stride[0]) : {
      ArrowRight: () => this.forward(), ArrowLeft: () => this.move(-1), Home: () => this.go(0), End: () => this.go(this.film.steps - 1),
      " ": () => this.play(), ".": () => this.follow(this.thread + 1), ",": () => this.follow(this.thread - 1),
      m: () => this.chooseBy(0, true), "]": () => this.chooseBy(1), "[": () => this.chooseBy(-1), p: () => this.predict.toggle(),
      l: () => this.light(), "?": () => this.help()}[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
  readAddress() {
    const words = new URLSearchParams(location.hash.slice(1)), whole = name => Number.parseInt(words.get(name), 10);
    if (whole("step") >= 0) this.step = Math.min(whole("step"), this.film.steps - 1);
    if (whole("thread") >= 0) this.thread = whole("thread");
    const cell = (words.get("cell") || "").match(/^(\d+)\.(\d+)$/);
    const array = cell && this.film.arrays[cell[1]];
    if (array && cell[2] < array.bytes / this.values.elementSize(array)) this.cell = {array: array.number, index: Number(cell[2])};
    for (const number of (words.get("laid") || "").match(/\d+/g) || []) if (this.film.arrays[number]) this.memory.option(this.film.arrays[number]).laid = true;
    if (words.has("predict")) this.predict.toggle(true);
  }
  light() {
    const root = document.documentElement, isDark = root.style.colorScheme === "dark" ||
      !root.style.colorScheme && matchMedia("(prefers-color-scheme: dark)").matches;
    root.style.colorScheme = isDark ? "light" : "dark";
  }
  help() {
    const dialog = byId("keys");
    if (dialog.open) return dialog.close();
    if (!dialog.children.length) {
      const table = rows => element("table", {}, ...rows.map(([name, what]) => element("tr", {}, element("th", {text: name}), element("td", {text: what}))));
      dialog.append(element("h2", {text: "Words"}), table(MEANINGS), element("h2", {text: "Keys"}), table(KEYS),
      element("p", {text: "The order shown is the one in which the threads really ran in CPU mode: warps take turns, the lanes of a warp go " +
        "together, blocks one after another; those that run at the same time, as in a cluster, from one of their barriers to the next. It is one of many that CUDA allows: ORDER=reversed or ORDER=random:7 gives others. " +
        "The page's address names this moment: copy it to show it to somebody. Ctrl and + make all larger."}), element("button", {text: "Close"}));
    }
    dialog.showModal();
    dialog.scrollTop = 0;
  }
}

(async () => {
  const known = JSON.parse(byId("known").textContent);
  const film = new Film(await unpacked(byId("reel").textContent.trim()), known);
  window.view = new View(film, new Values(film));
  document.body.dataset.ready = "yes";
})();
