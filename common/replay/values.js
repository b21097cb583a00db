"use strict";
// Values in their own types, and what the arrays are called and shaped like.

function number(value, digits) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−inf" : "inf";
  return Object.is(value, -0) ? "−0" : String(Number(value.toPrecision(digits))).replace("-", "−");
}
// A long double, of 80 bits.
function extended(view) {
  const high = view.getUint16(8, true), mantissa = view.getBigUint64(0, true), exponent = high & 0x7fff;
  const value = exponent < 0x7fff ? Number(mantissa) * 2 ** (exponent - 16446) : mantissa << 1n & (1n << 64n) - 1n ? NaN : Infinity;
  return high >> 15 ? -value : value;
}

// At most so many letters, as there is room for in a cell; what is cut says so by its exponent.
function fitted(text, letters) {
  const value = Number(text.replace("−", "-"));
  if (text.length <= letters || !text || Number.isNaN(value)) return text.length > letters ? text.slice(0, letters - 1) + "…" : text;
  for (let digits = letters; digits > 0; --digits) {
    const short = number(value, digits).replace(/^(−?)0\./, "$1.");
    if (short.length <= letters) return short;
    const power = value.toExponential(digits - 1).replace("e+", "e").replace("-", "−");
    if (power.length <= letters) return power;
  }
  return value.toExponential(0).replace("e+", "e").replace("-", "−");
}

// ---------------------------------------------------------------- what pointers tell
function holdsPointers(types, type) {
  const one = types[type];
  return one.holds ??= ["pointer", "reference"].includes(one.kind) || one.kind === "array" && holdsPointers(types, one.of) ||
    one.kind === "structure" && one.members.some(([, , inner]) => holdsPointers(types, inner));
}
// Those among the bytes from `from` on of something of a type: the way to each, its type, and where it leads.
function pointersIn(types, type, bytes, from, visit, way = "", at = 0) {
  const one = types[type];
  if (at + one.size <= from || at >= from + bytes.length || !holdsPointers(types, type)) return;
  if (one.kind === "structure") {
    for (const [member, offset, inner] of one.members) pointersIn(types, inner, bytes, from, visit, `${way}.${member}`, at + offset);
  } else if (one.kind === "array") {
    const {size} = types[one.of];
    for (let i = 0; i * size < one.size; ++i) pointersIn(types, one.of, bytes, from, visit, `${way}[${i}]`, at + i * size);
  } else if (at >= from && at + 8 <= from + bytes.length) {
    visit(way, one, Number(new DataView(bytes.buffer, bytes.byteOffset + at - from, 8).getBigUint64(0, true)));
  }
}
// All values of variables, with the launch.
function eachValue(film, visit) {
  for (let i = 0, step = 0; i < film.variable_number.length; ++i) {
    while (film.variableStart[step + 1] <= i) ++step;
    const row = film.variable_number[i], {index, at} = film.variableOfRow[row], start = film.variableAt[i];
    visit(film.known.variables[index], film.variable_values.subarray(start, start + film.known.rows[row]), at, film.block_launch[film.blockOf[step]]);
  }
}
const elementOf = (types, type) => types[type]?.kind === "array" ? types[types[type].of] : types[type];

// Dynamic shared memory is what each launch makes of it: an array for each place to which a pointer leads that is the same
// in all threads, and of another type than the array before, or a variable of its own.
function divideShared(film) {
  const {types} = film.known, launches = film.launches.map((_, launch) => launch);
  for (const whole of film.arrays.filter(one => one.shared && !one.name)) {
    const found = launches.map(() => new Map()), least = launches.map(() => 16);
    eachValue(film, ([name, type, owner, , isParameter], bytes, from, launch) => pointersIn(types, type, bytes, from, (way, {kind, of}, address) => {
      const offset = address - whole.start, key = `${owner}.${name}${way}`, element = elementOf(types, of);
      if (offset < 0 || offset >= whole.bytes || !element.size || element.kind === "void") return;
      const known = found[launch].get(key) || {name: name + way, offset, of, size: element.size, isParameter, isDeclared: kind === "reference" && types[of].kind === "array"};
      if (known.offset !== offset) known.varies = true;
      found[launch].set(key, known);
    }));
    for (const launch of launches) {
      const [first, end] = film.stepsOf(launch).map(step => film.accessStart[step]), own = [];
      for (let i = first; i < end; ++i) {
        if (film.access_array[i] !== whole.number) continue;
        own.push(i);
        least[launch] = Math.min(least[launch], film.access_size[i]);
      }
      const isRaw = one => one.size < least[launch];  // bytes that are used as something else
      const marks = [...found[launch].values()].filter(one => !one.varies)
        .sort((a, b) => a.offset - b.offset || isRaw(a) - isRaw(b) || b.isDeclared - a.isDeclared || a.isParameter - b.isParameter);
      const parts = [];
      for (const one of marks) {
        const last = parts[parts.length - 1];
        if (last ? one.offset > last.offset && (!one.isParameter || elementOf(types, one.of).name !== elementOf(types, last.of)?.name) : one.offset === 0) parts.push(one);
        else if (!last) parts.push({offset: 0, name: ""}, one);
      }
      if (!own.length) continue;
      if (!parts.length) parts.push({offset: 0, name: ""});
      const views = parts.map((one, i) => ({...whole, number: film.arrays.length + i, name: one.name, of: one.of, since: launch, until: launch + 1,
        start: whole.start + one.offset, bytes: (i + 1 < parts.length ? parts[i + 1].offset : whole.bytes) - one.offset}));
      film.arrays.push(...views);
      for (const i of own) {
        const view = views.findLast(one => one.start <= whole.start + film.access_offset[i]);
        film.access_array[i] = view.number;
        film.access_offset[i] -= view.start - whole.start;
      }
    }
    whole.until = 0;  // nobody uses it any more
  }
}

class Values {
  constructor(film) {
    this.film = film;
    this.types = film.known.types;
    this.scalars = film.launches.map(() => ({}));  // by launch and function: parameters that are whole numbers
    this.nameArrays();
  }

  // A value as text; `digits` as many as there is room for.
  text(type, bytes, at = 0, digits = 6, isUnwritten = () => false) {
    const one = this.types[type], view = new DataView(bytes.buffer, bytes.byteOffset + at, one.size);
    if (isUnwritten(at, one.size)) return "·";
    switch (one.kind) {
      case "float": return number(one.size === 4 ? view.getFloat32(0, true) : one.size === 8 ? view.getFloat64(0, true) : extended(view),
                                  digits);
      case "bool": return view.getUint8(0) ? "true" : "false";
      case "char": case "uchar": case "int": case "uint": return String(this.integer(one, view)).replace("-", "−");
      case "enumeration": return one.values[String(this.integer({kind: "uint", size: one.size}, view))]
        ?? String(this.integer({kind: one.of, size: one.size}, view)).replace("-", "−");
      case "pointer": case "reference": return this.pointer(Number(view.getBigUint64(0, true)));
      case "array": return this.list(one, bytes, at, digits, isUnwritten);
      case "structure":
        return "{" + one.members.map(([name, offset, inner, ...field]) =>
          `${name}: ${field.length ? this.field(inner, bytes, at + offset, ...field) : this.text(inner, bytes, at + offset, digits, isUnwritten)}`).join(", ") + "}";
      default: return "";
    }
  }
  // A bit-field, of so many bits from one of `at` on.
  field(type, bytes, at, first, bits) {
    const one = this.types[type], whole = new Uint8Array(8);
    const bit = i => bytes[at + (i >> 3)] >> (i & 7) & 1, fill = one.kind === "int" || one.of === "int" ? bit(first + bits - 1) : 0;
    for (let i = 0; i < 64; ++i) whole[i >> 3] |= (i < bits ? bit(first + i) : fill) << (i & 7);
    return this.text(type, whole);
  }
  list(one, bytes, at, digits, isUnwritten) {
    const size = this.types[one.of].size, count = one.size / size, parts = [];
    for (let i = 0; i < count; ++i) parts.push(this.text(one.of, bytes, at + i * size, digits, isUnwritten));
    return `{${parts.join(", ")}}`;
  }
  integer(one, view) {
    const signed = one.kind === "int" || one.kind === "char";
    switch (one.size) {
      case 1: return signed ? view.getInt8(0) : view.getUint8(0);
      case 2: return signed ? view.getInt16(0, true) : view.getUint16(0, true);
      case 4: return signed ? view.getInt32(0, true) : view.getUint32(0, true);
      default: return signed ? view.getBigInt64(0, true) : view.getBigUint64(0, true);
    }
  }
  pointer(address) {
    if (address === 0) return "null";
    const {launch} = this.film.block(this.film.at);
    const array = this.film.arrayAt(address, launch) || this.film.arrayAt(address - 1, launch);  // its end
    if (!array) return "a pointer";
    const element = Math.floor((address - array.start) / this.elementSize(array));
    return `→ ${array.title}${element ? ` + ${element}` : ""}`;
  }

  elementSize(array) { return array.type === undefined ? array.guess || 4 : Math.max(this.types[array.type].size, 1); }
  isStructure(array) { return array.type !== undefined && this.types[array.type].kind === "structure"; }
  // An element's value; "" where the film does not know it.
  element(array, index, digits = 4) {
    const {film} = this, size = this.elementSize(array), at = film.where(array, index * size), last = at + size - 1;
    if (at < 0 || (index + 1) * size > array.bytes || film.where(array, (index + 1) * size - 1) !== last || !array.known[at >>> 8] || !array.known[last >>> 8])
      return {text: "", known: false};
    const poison = array.shared ? UNWRITTEN.shared : UNWRITTEN.global;
    // What was computed of such a value looks alike, and so may a byte: it needs its whole word, which nobody else has written.
    const isUnwritten = (from, bytes) => {
      let unwritten = !array.writer[from];
      for (let i = from & ~3; i < (from + bytes + 3 & ~3) && unwritten; ++i)
        unwritten = array.data[i] === (poison >>> 8 * (i % 4) & 255) || array.writer[i] > 0 && (i < from || i >= from + bytes) || index * size + i - at >= array.bytes;
      return unwritten;
    };
    if (isUnwritten(at, size)) return {text: "·", known: true, unwritten: true};
    const plain = {1: "uchar", 2: "uint", 4: "int", 8: "uint"}[size] || "uint";
    if (array.type !== undefined) return {text: this.text(array.type, array.data, at, digits, isUnwritten), known: true};
    return {text: String(this.integer({kind: plain, size}, new DataView(array.data.buffer, at, size))), known: true};
  }
  indexText(array, index) {
    if (array.parts) {
      const at = index * this.elementSize(array), part = array.parts.findLast(one => one.offset <= at);
      return this.indexText({title: array.title + part.name, declared: true, shape: part.shape}, (at - part.offset) / this.elementSize(array));
    }
    if (!array.shape.length) return array.title;
    if (!array.declared || array.shape.length < 2) return `${array.title}[${index}]`;
    let rest = index, text = "";
    for (const side of [...array.shape].reverse()) {
      text = `[${rest % side}]` + text;
      rest = Math.floor(rest / side);
    }
    return array.title + text;
  }

  // ---------------------------------------------------------------- what arrays are called
  nameArrays() {
    const {film} = this, {known} = film;
    for (let i = 0; i < film.access_array.length; ++i) {
      const array = film.arrays[film.access_array[i]];
      array.guess = Math.min(array.guess || 16, film.access_size[i]);
    }
    for (const array of film.arrays) {
      array.title = array.name || "";
      if (array.of !== undefined) this.typed(array, array.of);
    }
    eachValue(film, (variable, bytes, from, launch) => {
      this.learnNumbers(variable, bytes, from, launch);
      pointersIn(this.types, variable[1], bytes, from, (way, one, address) => this.learn(variable[0] + way, one, address, variable, launch));
    });
    for (const array of film.arrays) {
      const symbol = known.symbols.find(one => one[0] <= array.start && array.start < one[0] + Math.max(one[1], 1));
      if (array.title || !symbol) continue;
      array.title = symbol[2];
      if (symbol[3] !== null) this.typed(array, symbol[3]);
    }
    this.learnFromMemory();
    let count = 0;
    for (const array of film.arrays) {
      if (array.type === undefined && array.middle !== undefined) this.typed(array, array.middle);
      array.title ||= array.shared ? "shared memory" : `array ${++count}`;
      if (array.named) array.shape = this.shapeOf(array, ...array.named);
      array.shape = array.shape || [Math.floor(array.bytes / this.elementSize(array))];
      if (array.block >= 0) array.title += ` of block ${index3(array.block, film.launches[array.since].grid)}`;
    }
  }
  // A whole number that is a parameter, or in one, may be a side of an array.
  learnNumbers([name, type, owner, , isParameter], bytes, from, launch) {
    if (!isParameter) return;
    const one = this.types[type], known = this.scalars[launch][owner] ??= {};
    const numbers = one.kind === "structure" ? one.members.filter(member => member.length === 3) : [[name, 0, type]];
    for (const [word, offset, inner] of numbers) {
      const {kind, size} = this.types[inner];
      if ((kind === "int" || kind === "uint") && offset >= from && offset + size <= from + bytes.length)
        known[word] ??= Number(this.integer(this.types[inner], new DataView(bytes.buffer, bytes.byteOffset + offset - from, size)));
    }
  }
  // A pointer or a reference tells the type of what it leads to.
  learn(name, {of}, address, variable, launch) {
    const array = this.film.arrayAt(address, launch), element = elementOf(this.types, of);
    if (!array || array.type !== undefined || !element.size || element.kind === "void") return;
    if (element.size === 1 && array.guess > 1) return;  // raw memory: another pointer says more
    if (address !== array.start) {
      if ((address - array.start) % element.size === 0) array.middle ??= of;
      return;
    }
    array.title ||= name;
    this.typed(array, of);
    if (!array.declared) array.named = [name, variable, launch];
  }
  // Pointers that lie in arrays themselves, as float** has them, and those of lists and trees.
  learnFromMemory() {
    const {film} = this, done = new Set(), holds = array => array.type !== undefined && !done.has(array.number) && holdsPointers(this.types, array.type);
    for (let open = film.arrays.filter(holds); open.length; open = film.arrays.filter(holds)) {
      const now = new Set(open.map(array => array.number));
      const look = (array, offset, bytes, launch) => {
        const size = this.elementSize(array);
        for (let index = Math.floor(offset / size); index * size < offset + bytes.length; ++index)
          pointersIn(this.types, array.type, bytes, offset - index * size, (way, one, address) =>
            this.learn(`${array.title}${array.bytes > size ? `[${index}]` : ""}${way}`, one, address, null, launch));
      };
      let at = 0;
      film.beginning_array.forEach((number, i) => {
        const array = film.arrays[number], offset = film.beginning_offset[i], size = Math.min(256, array.bytes - offset);
        if (now.has(number)) look(array, offset, film.beginning_values.subarray(at, at + size), film.beginning_launch[i]);
        at += size;
      });
      film.blocks.forEach(({step, end, launch}) => {
        for (let i = film.accessStart[step]; i < film.accessStart[end]; ++i)
          if (film.access_what[i] !== LOAD && film.access_size[i] >= 8 && now.has(film.access_array[i]))
            look(film.arrays[film.access_array[i]], film.access_offset[i], film.values.subarray(film.valueStart[i], film.valueStart[i + 1]), launch);
      });
      now.forEach(number => done.add(number));
    }
  }
  typed(array, type) {
    const one = this.types[type], parts = one.size === array.bytes ? this.parts(type) : [];
    if (parts.length > 1 && parts.length < 64 && parts.some(part => part.shape.length) && parts.every(part => part.type === parts[0].type)) {
      array.type = parts[0].type;  // tiles in a structure
      array.parts = parts;
      array.declared = true;
    } else if (one.kind === "array") {
      array.type = one.of;
      array.declared = true;
      array.shape = [...one.shape];
      if (!array.shape[0] || one.size > array.bytes)  // extern __shared__ T name[]
        array.shape[0] = Math.floor(array.bytes / one.shape.slice(1).reduce((a, b) => a * b, this.types[one.of].size));
    } else {
      array.type = type;
    }
  }
  // The arrays and numbers that a structure, or an array of such, consists of.
  parts(type, name = "", offset = 0) {
    const one = this.types[type], inner = this.types[one.of];
    if (one.kind === "structure" && one.members.every(member => member.length === 3)) return one.members.flatMap(([member, at, what]) => this.parts(what, `${name}.${member}`, offset + at));
    if (one.kind === "array" && inner.kind === "structure")
      return Array.from({length: Math.min(64, one.size / inner.size)}, (_, i) => this.parts(one.of, `${name}[${i}]`, offset + i * inner.size)).flat();
    return [one.kind === "array" ? {name, offset, type: one.of, shape: one.shape} : {name, offset, type, shape: []}];
  }
  // From the comment behind the parameter, `// (height, width)`, if the sides are known and fit.
  shapeOf(array, name, variable, launch) {
    const count = Math.floor(array.bytes / this.elementSize(array)), scalars = (variable && this.scalars[launch][variable[2]]) || {};
    const sides = variable && /^[\w.]+$/.test(name) ? this.comment(name, variable).map(part => {
      let value = 1;
      for (const factor of part.split("*").map(one => one.trim())) value *= /^\d+$/.test(factor) ? Number(factor) : scalars[factor];
      return value;
    }) : [];
    if (sides.length > 1 && sides.every(side => side > 0) && sides.reduce((a, b) => a * b) <= count) return sides;
    if (sides.length === 1) return [count];
    for (const name of ["width", "columns", "cols", "n", "size", "N", "k"]) {
      const side = scalars[name];  // that of a square may be called n, which is as often a count
      if (side > 1 && side < count && count % side === 0 && (/^(width|col)/.test(name) || count === side * side)) return [count / side, side];
    }
    return [count];
  }
  comment(name, variable) {
    const {files, functions} = this.film.known, member = name.match(/\.(\w+)$/);
    const [, line, file] = functions[variable[2]];
    const lines = member ? files.flatMap(one => one.text.split("\n")) : files[file].text.split("\n").slice(line - 1, line + 12);
    const found = lines.map(text => text.match(new RegExp(`\\b${member ? member[1] : name}\\s*[${member ? ";" : ",)"}].*//.*?\\(([^)]*)\\)`))).find(Boolean);
    return found ? found[1].split(",").map(part => part.trim()) : [];
  }
}
