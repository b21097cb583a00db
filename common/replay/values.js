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

class Values {
  constructor(film) {
    this.film = film;
    this.types = film.known.types;
    this.variableOfRow = [];
    film.known.variables.forEach((variable, i) => {
      for (let at = 0, row = variable[3]; at < this.types[variable[1]].size; at += 16, ++row)
        this.variableOfRow[row] = {index: i, at};
    });
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
    const array = this.film.arrays.find(one => address >= one.start && address <= one.start + one.bytes);
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
    const isUnwritten = (from, bytes) => {
      let unwritten = !array.writer[from];  // what was computed of such a value looks alike
      for (let i = from; i < from + bytes && unwritten; ++i) unwritten = array.data[i] === (poison >>> 8 * (i % 4) & 255);
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
    for (const array of film.arrays) array.title = array.name || "";
    for (let i = 0; i < film.access_array.length; ++i) {
      const array = film.arrays[film.access_array[i]];
      array.guess = Math.min(array.guess || 16, film.access_size[i]);
    }
    let block = 0, step = 0;
    for (let i = 0; i < film.variable_number.length; ++i) {
      while (film.variableStart[step + 1] <= i) ++step;
      const found = this.variableOfRow[film.variable_number[i]];
      if (!found || found.at) continue;
      const variable = known.variables[found.index], at = film.variableAt[i], size = known.rows[film.variable_number[i]];
      const bytes = film.variable_values.subarray(at, at + size);
      block = film.blockOf[step];
      this.learn(variable[0], variable[1], bytes, variable, film.block_launch[block]);
    }
    let count = 0;
    for (const array of film.arrays) {
      const symbol = known.symbols.find(one => one[0] <= array.start && array.start < one[0] + Math.max(one[1], 1));
      if (!array.title && symbol) {
        array.title = symbol[2];
        if (symbol[3] !== null) this.typed(array, symbol[3]);
      }
      array.title ||= array.shared ? "shared memory" : `array ${++count}`;
      if (array.named) array.shape = this.shapeOf(array, ...array.named);
      array.shape = array.shape || [Math.floor(array.bytes / this.elementSize(array))];
    }
  }
  // A pointer or a reference tells the type of what it leads to; a whole number may be a side of an array.
  learn(name, type, bytes, variable, launch) {
    const one = this.types[type];
    if (bytes.length < Math.min(one.size, 16)) return;
    if (one.kind === "structure") {
      for (const [member, offset, inner] of one.members)
        if (offset + this.types[inner].size <= bytes.length)
          this.learn(member, inner, bytes.subarray(offset, offset + this.types[inner].size), null, launch);
    } else if (one.kind === "int" || one.kind === "uint") {
      if (!variable || !variable[4]) return;
      const value = Number(this.integer(one, new DataView(bytes.buffer, bytes.byteOffset, one.size)));
      (this.scalars[launch][variable[2]] ??= {})[name] ??= value;
    } else if (one.kind === "pointer" || one.kind === "reference") {
      const address = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
      const array = this.film.arrays.find(some => address >= some.start && address < some.start + some.bytes);
      const inner = this.types[one.of], element = inner.kind === "array" ? this.types[inner.of] : inner;
      if (array && element.size === 1 && array.guess > 1) return;  // raw memory: another pointer says more
      if (!array || array.typed || !inner.size || inner.kind === "void" || address !== array.start) return;
      array.title ||= name;
      array.typed = true;
      this.typed(array, one.of);
      if (!array.declared) array.named = [name, variable, launch];
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
        array.shape[0] = Math.floor(array.bytes / (one.size / (one.shape[0] || 1)));
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
    const sides = variable ? this.comment(name, variable).map(part => {
      let value = 1;
      for (const factor of part.split("*").map(one => one.trim())) value *= /^\d+$/.test(factor) ? Number(factor) : scalars[factor];
      return value;
    }) : [];
    if (sides.length > 1 && sides.every(side => side > 0) && sides.reduce((a, b) => a * b) <= count) return sides;
    if (sides.length === 1) return [count];
    for (const side of ["width", "columns", "cols", "n", "size", "N", "k"].map(one => scalars[one]))
      if (side > 1 && side < count && count % side === 0) return [count / side, side];
    return [count];
  }
  comment(name, variable) {
    const [, line, file] = this.film.known.functions[variable[2]];
    const lines = this.film.known.files[file].text.split("\n").slice(line - 1, line + 12);
    const found = lines.map(text => text.match(new RegExp(`\\b${name}\\s*[,)].*//.*?\\(([^)]*)\\)`))).find(Boolean);
    return found ? found[1].split(",").map(part => part.trim()) : [];
  }
}
