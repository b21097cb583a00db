"use strict";
// Memory: a table for each array, in its own shape or by banks and sectors, with what the step reads and writes.

const MOST_ROWS = 16, MOST_COLUMNS = 32;

class MemoryTables {
  constructor(film, values, view) {
    Object.assign(this, {film, values, view});
    this.panels = new Map();
    this.options = new Map();  // by array: what its switch says, and which part is shown
  }

  // The arrays of a launch, in the order in which they are touched first.
  ofLaunch(launch) {
    if (this.launch === launch) return this.list;
    const {film} = this, seen = new Set(), [first, end] = film.stepsOf(launch);
    for (let i = film.accessStart[first]; i < film.accessStart[end]; ++i) seen.add(film.access_array[i]);
    this.launch = launch;
    this.list = [...seen].map(number => film.arrays[number]).sort((a, b) => b.shared - a.shared);
    return this.list;
  }

  // Goes to where the step reads and writes, unless it is only a cell that has been chosen.
  show(step, follows = true) {
    this.follows = follows;
    const {film} = this, accesses = film.accesses(step), block = film.block(step);
    const list = this.ofLaunch(block.launch).filter(array => film.sees(array, block));
    const panels = list.map(array => this.panel(array, step, accesses.filter(one => one.array === array.number)));
    const holder = byId("arrays");
    if (holder.children.length !== panels.length || panels.some((one, i) => holder.children[i] !== one))
      holder.replaceChildren(...panels);
    this.showCell();
  }
  // Brings what the step reads and writes into sight.
  revealStep() {
    const box = byId("memory");
    const cell = box.querySelector(".c.mine") || box.querySelector(".c.read, .c.written");
    const top = cell ? topIn(box, cell) : 0, title = cell ? topIn(box, cell.closest(".array")) : 0;
    if (this.follows && cell && box.scrollHeight > box.clientHeight && (top < box.scrollTop + 50 || top + 30 > box.scrollTop + box.clientHeight))
      box.scrollTop = Math.max(title - 40, top - box.clientHeight + 60);  // with the array's name, if both fit
  }

  option(array) {
    if (!this.options.has(array.number)) this.options.set(array.number, {laid: false, row: 0, column: 0});
    return this.options.get(array.number);
  }
  // How many elements a row has, of how many rows, and what the row's first is called.
  layout(array) {
    const size = this.values.elementSize(array), count = Math.floor(array.bytes / size), option = this.option(array);
    let columns = array.shape.length > 1 ? array.shape[array.shape.length - 1] : Math.min(count, innerWidth < 600 ? 8 : 16);
    if (this.values.isStructure(array)) columns = 1;  // with its members' names it needs a row
    if (option.laid) columns = Math.max(1, (array.shared ? 128 : 32) / size);
    return {size, count, columns, rows: Math.ceil(count / columns), isMatrix: array.shape.length > 1 && columns > 1 && !option.laid};
  }

  panel(array, step, accesses) {
    const {film, view, values} = this, option = this.option(array), {size, count, columns, rows, isMatrix} = this.layout(array);
    const touched = new Map();
    for (const one of accesses) {
      for (let i = Math.floor(one.offset / size); i * size < one.offset + one.size; ++i) {
        const known = touched.get(i) || {read: false, written: false, lanes: []};
        known[one.what === LOAD ? "read" : "written"] = true;
        if (one.what === ATOMIC) known.read = true;
        known.lanes.push(one.thread);
        touched.set(i, known);
      }
    }
    const shownRows = Math.min(rows, MOST_ROWS), shownColumns = Math.min(columns, MOST_COLUMNS);
    if (this.follows) this.follow(option, accesses, {size, columns, rows, shownRows, shownColumns});
    let panel = this.panels.get(array.number);
    // What no step between has touched looks as before, within a block.
    const chosen = `${film.blockOf[step]}.${view.thread}.${view.cell?.array}.${view.cell?.index}`;
    if (panel && !touched.size && panel.isIdle && Math.abs(step - panel.step) === 1 && panel.chosen === chosen) {
      panel.step = step;
      return panel;
    }
    const key = [option.laid, columns, shownRows, shownColumns].join();
    if (!panel || panel.dataset.key !== key) {
      const fresh = this.build(array, option, {shownRows, shownColumns, columns, rows});
      fresh.dataset.key = key;
      panel = fresh;
      this.panels.set(array.number, panel);
    }
    Object.assign(panel, {step, chosen, isIdle: !touched.size});
    panel.classList.toggle("idle", !touched.size);
    panel.querySelector(".cost").replaceChildren(...this.cost(array, accesses));
    const letters = this.lettersOf(shownColumns);
    panel.columnHeads.forEach((head, c) => {
      head.textContent = columns > 1 ? option.column + c : "";
      head.classList.toggle("busy", option.laid && array.shared && accesses.length > 0 && this.isCrowded(accesses, option.column + c, size, array));
    });
    // By banks those rows come first that the step touches: they may lie far apart.
    const first = option.laid ? [...new Set([...touched.keys()].map(index => Math.floor(index / columns)))].sort((a, b) => a - b).slice(0, shownRows) : [];
    for (let row = option.row; first.length < shownRows; ++row) if (!first.includes(row % rows)) first.push(row % rows);
    panel.cells.forEach((line, r) => {
      const row = first[r];
      panel.heads[r].textContent = isMatrix ? row : row * columns;
      line.forEach((cell, c) => {
        const index = row * columns + option.column + c;
        const there = option.column + c < columns && index < count;
        const value = there ? values.element(array, index, 7) : {text: ""};
        const use = touched.get(index);
        const isChosen = view.cell && view.cell.array === array.number && view.cell.index === index;
        const mine = use && use.lanes.includes(view.thread);
        const name = ["c", there ? "" : "void", value.unwritten ? "unwritten" : "", !value.known && there ? "unknown" : "", use?.read ? "read" : "",
          use?.written ? "written" : "", mine ? "mine" : "", isChosen ? "chosen" : ""].filter(Boolean).join(" ");
        if (cell.className !== name) cell.className = name;
        const text = option.laid && columns > 16 && !value.unwritten ? "" : fitted(value.text, letters);  // the lanes have no room beside it
        if (cell.firstChild.data !== text) cell.firstChild.data = text;
        cell.title = text === value.text ? "" : value.text;
        cell.index = there ? index : -1;
        cell.dataset.use = use ? (use.written ? use.read ? "a" : "w" : "r") + (option.laid && use.lanes.length ? use.lanes.length > 1 ? `×${use.lanes.length}` : use.lanes[0] % 32 : "") : "";
      });
    });
    panel.querySelector(".part").textContent = rows > shownRows || columns > shownColumns
      ? `rows ${option.row}–${option.row + shownRows - 1} of ${rows}${columns > shownColumns ? `, columns ${option.column}–${option.column + shownColumns - 1} of ${columns}` : ""}` : "";
    return panel;
  }

  // How many letters a cell has room for; the width is measured once for each size of the window.
  lettersOf(columns) {
    const letter = 0.68 * 0.602 * (this.root ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
    const width = ((this.width ??= byId("arrays").clientWidth) - 4 * letter) / columns - 5;
    return columns === 1 ? 200 : Math.max(4, Math.min(8, Math.floor(width / letter)));
  }
  resized() { this.root = this.width = undefined; }

  // Shows a cell that has been chosen by keys.
  reveal(array, index) {
    const {columns, rows} = this.layout(array);
    this.turnTo(this.option(array), index, {columns, rows, shownRows: Math.min(rows, MOST_ROWS), shownColumns: Math.min(columns, MOST_COLUMNS)});
    this.view.show(true);
    byId("memory").querySelector(".chosen")?.scrollIntoView({block: "nearest"});
  }

  // The part of a large array that is shown is the one that the followed thread touches, or any.
  follow(option, accesses, sizes) {
    if (accesses.length) this.turnTo(option, this.touchedFirst(accesses, sizes.size), sizes);
  }
  touchedFirst(accesses, size) {
    return Math.floor((accesses.find(one => one.thread === this.view.thread) || accesses[0]).offset / size);
  }
  turnTo(option, index, {columns, rows, shownRows, shownColumns}) {
    const row = Math.floor(index / columns), column = index % columns;
    if (row < option.row || row >= option.row + shownRows) option.row = Math.max(0, Math.min(rows - shownRows, row - (row % shownRows)));
    if (column < option.column || column >= option.column + shownColumns)
      option.column = Math.max(0, Math.min(columns - shownColumns, column - (column % shownColumns)));
  }

  // Whether a bank gives more than one word to the lanes of this step.
  isCrowded(accesses, column, size, array) {
    const words = new Set();
    for (const one of accesses)
      for (let word = one.offset >> 2; word <= (one.offset + one.size - 1) >> 2; ++word)
        if (Math.floor(word % 32 * 4 / size) === column || size > 4 && Math.floor(word % 32 / (size / 4)) === column) words.add(word);
    return words.size > Math.max(1, size / 4);
  }

  build(array, option, {shownRows, shownColumns, columns, rows}) {
    const {view} = this, name = array.shared ? "banks" : "sectors";
    const move = (by, side) => element("button", {class: "pan", text: {"-1row": "▲", "1row": "▼", "-1column": "◀", "1column": "▶"}[by + side],
      "aria-label": `${array.title}: ${by < 0 ? "earlier" : "later"} ${side}s`, onclick: () => {
        const most = side === "row" ? rows - shownRows : columns - shownColumns;
        option[side] = Math.max(0, Math.min(most, option[side] + by * (side === "row" ? shownRows : shownColumns)));
        view.show(true);
      }});
    const head = element("div", {class: "head"}, element("h3", {text: array.title}),
      element("small", {text: `${array.space}, ${array.type === undefined ? `${array.guess} bytes` : this.values.types[array.type].name}` +
        `${array.shape.length > 1 ? ` ${array.shape.join(" × ")}` : ` [${array.shape[0]}]`}`}),
      element("button", {text: `by ${name}`, "aria-pressed": option.laid, title: array.shared ? "32 banks of 4 bytes" : "32 bytes a row",
        onclick: () => { option.laid = !option.laid; option.row = option.column = 0; view.show(); }}),
      element("span", {class: "part"}));
    if (rows > shownRows) head.append(move(-1, "row"), move(1, "row"));
    if (columns > shownColumns) head.append(move(-1, "column"), move(1, "column"));
    const panel = element("div", {class: "array"}, head, element("p", {class: "cost"}));
    panel.heads = [];
    panel.columnHeads = Array.from({length: shownColumns}, () => element("i"));
    panel.cells = Array.from({length: shownRows}, () => Array.from({length: shownColumns}, () => {
      const cell = element("span", {class: "c"});
      cell.append(document.createTextNode(""));
      return cell;
    }));
    const table = element("div", {class: `cells${option.laid && columns > 16 ? " narrow" : ""}${shownColumns === 1 ? " single" : ""}`, tabindex: "0", role: "application", "aria-label": `${array.title}: arrow keys choose a cell`,
      style: `--columns: ${shownColumns}`});
    table.append(element("i", {class: "corner", text: option.laid ? (array.shared ? "bank" : "") : ""}), ...panel.columnHeads);
    panel.cells.forEach(line => {
      const rowHead = element("i");
      panel.heads.push(rowHead);
      table.append(rowHead, ...line);
    });
    table.onclick = event => {
      const cell = event.target.closest(".c");
      if (cell && cell.index >= 0) view.choose(array.number, cell.index);
    };
    table.onkeydown = event => {
      const {columns: width, count} = this.layout(array);
      const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}[event.key];
      if (!by) return;
      const from = view.cell && view.cell.array === array.number ? view.cell.index : -by;
      view.choose(array.number, Math.max(0, Math.min(count - 1, from + by)));
      event.preventDefault();
      event.stopPropagation();
    };
    panel.append(table);
    return panel;
  }

  // What the step asks of this array, in the words of make explain.
  cost(array, accesses) {
    const groups = new Map();
    for (const one of accesses) {
      const key = `${one.place}.${one.what}`;
      groups.set(key, [...groups.get(key) || [], one]);
    }
    return [...groups.values()].map(group => {
      const {total, least} = array.shared ? this.film.wavefronts(group) : this.film.sectors(group);
      const noun = array.shared ? "wavefront" : "sector", verb = ["read", "write", "update"][group[0].what];
      const lanes = `${group.length} ${group.length > 1 ? `lanes ${verb}` : `lane ${verb}s`}`;
      return element("span", {class: total > least ? "dear" : "",
        text: `${lanes}: ${total} ${noun}${total > 1 ? "s" : ""}${total > least ? `, ${least} would do` : ""}`});
    });
  }

  showCell() {
    const {film, values, view} = this;
    if (!view.cell) { byId("cell").textContent = "choose a cell to know who wrote it"; return; }
    const array = film.arrays[view.cell.array];
    const size = values.elementSize(array), at = film.where(array, view.cell.index * size), value = values.element(array, view.cell.index, 9);
    const writer = Math.max(...array.writer.subarray(at, at + size));  // of a structure the last that wrote any of it
    let text = `${values.indexText(array, view.cell.index)} = ${value.unwritten ? "not written" : value.text || "not known"}`;
    if (at >= 0 && writer > 0) {
      const access = writer - 1, step = film.stepOf(access), thread = film.access_thread[access];
      const launch = film.launch(step);
      text += thread === 0xffff ? `, written in line ${film.line(film.step_place[step])}, step ${step}` :
        `, written by thread ${index3(thread, launch.block)} of block ${index3(film.block(step).number, launch.grid)}, ` +
        `line ${film.line(film.step_place[step])}, step ${step}`;
    } else if (!value.unwritten && value.known) {
      text += ", from before this launch";
    }
    byId("cell").textContent = text;
  }
}
