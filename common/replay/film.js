"use strict";
// The film: columns of numbers (common/cpu/runtime/film_reel.h), and what memory and threads are like at a step.
// Each step is applied or taken back; what it takes to take it back is worked out once, at the start.

const STANDS = 0, AT_BARRIER = 1, IN_WARP = 2, ENDED = 3, NOT_BEGUN = 4;
const LOAD = 0, STORE = 1, ATOMIC = 2;
const UNWRITTEN = {shared: 0xfffd5a5d, global: 0xfffbe1f1};  // common/cpu/runtime/patterns.h

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// Where the numbers of each step begin, from how many it has.
function starts(counts) {
  const sums = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; ++i) sums[i + 1] = sums[i] + counts[i];
  return sums;
}

class Film {
  constructor(buffer, known) {
    this.known = known;
    const length = new DataView(buffer).getUint32(0, true);
    this.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let at = 4 + length;
    for (const [name, size, count] of this.head.columns) {
      const kind = {1: Uint8Array, 2: Uint16Array, 4: Uint32Array}[size];
      this[name] = new kind(buffer, at, count);
      at += Math.ceil(size * count / 8) * 8;
    }
    this.steps = this.step_warp.length;
    this.accessStart = starts(this.step_accesses);
    this.moveStart = starts(this.step_moves);
    this.variableStart = starts(this.step_variables);
    this.valueStart = starts(this.access_size.map((size, i) => this.access_what[i] === LOAD ? 0 : size));
    this.variableAt = starts(Array.from(this.variable_number, row => known.rows[row]));
    this.variableOfRow = known.variables.flatMap(([, type], index) =>
      Array.from({length: Math.ceil(known.types[type].size / 16)}, (_, piece) => ({index, at: 16 * piece})));
    this.findBlocks();
    this.arrays = this.head.arrays.map((one, number) => ({...one, number, shared: one.space === "shared"}));
    divideShared(this);
    this.prepareArrays();
    this.rehearse();
  }

  findBlocks() {
    this.launches = this.head.launches;
    this.blockOf = new Uint32Array(this.steps);
    this.block_step.forEach((first, block) => this.blockOf.fill(block, first));
    this.blocks = Array.from(this.block_step, (step, i) => ({
      step, end: i + 1 < this.block_step.length ? this.block_step[i + 1] : this.steps,
      number: this.block_number[i], launch: this.block_launch[i]}));
    // Blocks that run at the same time have several stretches each, from one barrier of theirs to the next.
    const last = new Map();
    for (const block of this.blocks) {
      const key = `${block.launch}.${block.number}`, before = last.get(key);
      block.first = before ? before.first : block;
      block.before = before;
      block.first.ends = block.end;
      if (before) this.launches[block.launch].together = true;
      last.set(key, block);
    }
  }
  // Whether a block sees an array: shared memory is its own, or that of its cluster.
  sees(array, block) {
    if (!(array.block >= 0) || array.block === block.number) return true;
    const {grid, cluster} = this.launches[block.launch];
    const place = number => [number % grid[0], Math.floor(number / grid[0]) % grid[1], Math.floor(number / grid[0] / grid[1])]
      .map((n, i) => Math.floor(n / cluster[i])).join();
    return cluster[0] > 0 && place(array.block) === place(block.number);
  }
  block(step) { return this.blocks[this.blockOf[step]]; }
  launch(step) { return this.launches[this.block(step).launch]; }
  threadCount(step) { return this.launch(step).block.reduce((a, b) => a * b, 1); }

  // The array that holds an address in a launch.
  arrayAt(address, launch) {
    return this.arrays.find(one => address >= one.start && address < one.start + one.bytes && launch >= one.since && launch < one.until);
  }
  // The steps of a launch: its first, and the one behind its last.
  stepsOf(launch) {
    return [this.block_step[this.block_launch.indexOf(launch)], this.blocks[this.block_launch.lastIndexOf(launch)].end];
  }

  prepareArrays() {
    // Of a large array only those pieces of 256 bytes are kept that some launch touches: slot[piece] says where.
    for (const array of this.arrays) array.slot = new Int32Array(Math.ceil(array.bytes / 256)).fill(array.shared ? 0 : -1);
    this.beginning_array.forEach((number, i) => { this.arrays[number].slot[this.beginning_offset[i] >>> 8] = 0; });
    for (const array of this.arrays) {
      let slots = 0;
      for (let i = 0; i < array.slot.length; ++i) if (array.slot[i] === 0) array.slot[i] = slots++;
      array.data = new Uint8Array(slots * 256);
      array.writer = new Int32Array(slots * 256);
      array.known = new Uint8Array(slots);  // in this launch
    }
    this.beginningAt = [];
    let at = 0;
    this.beginning_array.forEach((number, i) => {
      this.beginningAt.push(at);
      at += Math.min(256, this.arrays[number].bytes - this.beginning_offset[i]);
    });
  }

  // Everything as a launch finds it.
  reset(launch) {
    for (const array of this.arrays) {
      array.known.fill(array.shared);
      array.data.fill(0);
      array.writer.fill(0);
      if (array.shared) this.poison(array);
    }
    this.beginning_launch.forEach((one, i) => {
      if (one !== launch) return;
      const array = this.arrays[this.beginning_array[i]], offset = this.beginning_offset[i];
      const size = Math.min(256, array.bytes - offset);
      array.data.set(this.beginning_values.subarray(this.beginningAt[i], this.beginningAt[i] + size), this.where(array, offset));
      array.known[array.slot[offset >>> 8]] = 1;
    });
    this.state = new Uint8Array(1024).fill(NOT_BEGUN);
    this.place = new Uint32Array(1024);
    this.depth = new Uint8Array(1024);
  }
  // Where a byte of an array lies in its data; negative if it is in none of the pieces.
  where(array, offset) {
    const slot = array.slot[offset >>> 8];
    return slot < 0 ? -1 : slot * 256 + (offset & 255);
  }
  poison(array) {
    new Uint32Array(array.data.buffer).fill(UNWRITTEN.shared);
    array.writer.fill(0);
  }

  // Runs once through all, and notes what each step replaces.
  rehearse() {
    this.before = new Uint8Array(this.values.length);
    this.writerBefore = new Int32Array(this.access_what.length);
    this.stateBefore = new Uint8Array(this.move_state.length);
    this.placeBefore = new Uint32Array(this.move_state.length);
    this.depthBefore = new Uint8Array(this.move_state.length);
    this.sharedBefore = [];  // by block: what the one before has left
    this.barriers = [];      // steps with which a barrier opens
    let launch = -1;
    for (let step = 0; step < this.steps; ++step) {
      const block = this.blockOf[step];
      if (this.block_launch[block] !== launch) this.reset(launch = this.block_launch[block]);
      else if (this.block_step[block] === step) {
        if (this.launches[launch].together) this.blocks[block - 1].left = [this.state.slice(), this.place.slice(), this.depth.slice()];
        if (!this.blocks[block].before) this.sharedBefore[block] = this.sharedOf(launch).map(one => [one.data.slice(), one.writer.slice()]);
      }
      this.beginBlock(step);
      let opens = false;
      for (let i = this.moveStart[step]; i < this.moveStart[step + 1]; ++i) {
        const thread = this.move_thread[i];
        this.stateBefore[i] = this.state[thread];
        this.placeBefore[i] = this.place[thread];
        this.depthBefore[i] = this.depth[thread];
        opens ||= this.state[thread] === AT_BARRIER;
        this.move(thread, this.move_state[i] & 127, this.move_place[i], this.move_depth[i]);
      }
      if (opens) this.barriers.push(step);
      for (let i = this.accessStart[step]; i < this.accessStart[step + 1]; ++i) {
        if (this.access_what[i] === LOAD) continue;
        const array = this.arrays[this.access_array[i]], at = this.where(array, this.access_offset[i]);
        this.before.set(array.data.subarray(at, at + this.access_size[i]), this.valueStart[i]);
        this.writerBefore[i] = array.writer[at];
        this.store(i, this.values, i + 1);
      }
    }
    this.at = this.steps - 1;
  }
  beginBlock(step) {
    const block = this.block(step);
    if (block.step !== step) return;
    if (block.before) return this.takeUp(block.before);
    this.state.fill(NOT_BEGUN);
    for (const array of this.sharedOf(block.launch)) if (!(array.block >= 0) || array.block === block.number) this.poison(array);
  }
  // The threads as a stretch has left them.
  takeUp(stretch) { [this.state, this.place, this.depth] = stretch.left.map(one => one.slice()); }
  sharedOf(launch) { return this.arrays.filter(one => one.shared && launch >= one.since && launch < one.until); }
  move(thread, state, place, depth) {
    this.state[thread] = state;
    this.place[thread] = place;
    this.depth[thread] = depth;
  }
  store(i, values, writer) {
    const array = this.arrays[this.access_array[i]], at = this.where(array, this.access_offset[i]), size = this.access_size[i];
    array.data.set(values.subarray(this.valueStart[i], this.valueStart[i] + size), at);
    array.writer.fill(writer, at, at + size);
  }

  forward(step) {
    this.beginBlock(step);
    for (let i = this.moveStart[step]; i < this.moveStart[step + 1]; ++i)
      this.move(this.move_thread[i], this.move_state[i] & 127, this.move_place[i], this.move_depth[i]);
    for (let i = this.accessStart[step]; i < this.accessStart[step + 1]; ++i)
      if (this.access_what[i] !== LOAD) this.store(i, this.values, i + 1);
  }
  back(step) {
    for (let i = this.accessStart[step + 1]; i-- > this.accessStart[step];)
      if (this.access_what[i] !== LOAD) this.store(i, this.before, this.writerBefore[i]);
    for (let i = this.moveStart[step + 1]; i-- > this.moveStart[step];)
      this.move(this.move_thread[i], this.stateBefore[i], this.placeBefore[i], this.depthBefore[i]);
    if (this.block(step).step !== step) return;
    const left = this.sharedBefore[this.blockOf[step]], stretch = this.blocks[this.blockOf[step] - 1];
    if (stretch && stretch.left && stretch.launch === this.block(step).launch) this.takeUp(stretch);
    if (!left) return;
    this.sharedOf(this.block(step).launch).forEach((array, i) => {
      array.data.set(left[i][0]);
      array.writer.set(left[i][1]);
    });
    if (!stretch.left) this.state.fill(ENDED);
  }
  // Memory and threads as they are after a step.
  go(step) {
    const launch = this.block(step).launch;
    if (this.block(this.at).launch !== launch) {
      this.reset(launch);
      this.at = this.stepsOf(launch)[0] - 1;
    }
    while (this.at < step) this.forward(++this.at);
    while (this.at > step) this.back(this.at--);
  }

  // ---------------------------------------------------------------- what a step does
  line(place) { return this.known.places[place] ? this.known.places[place][1] : 0; }
  accesses(step) {
    const found = [];
    for (let i = this.accessStart[step]; i < this.accessStart[step + 1]; ++i) {
      // Of what nobody knows who wrote it, the step's first lane is taken.
      const thread = this.access_thread[i] === 0xffff ? this.firstThread(step) : this.access_thread[i];
      found.push({index: i, thread, place: this.access_place[i], what: this.access_what[i],
                  size: this.access_size[i], array: this.access_array[i], offset: this.access_offset[i]});
    }
    return found;
  }
  firstThread(step) { return this.step_warp[step] * 32 + Math.max(0, 31 - Math.clz32(this.step_mask[step] & -this.step_mask[step])); }
  stepOf(access) {  // the last step that begins at or before it
    let low = 0, high = this.steps - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.accessStart[middle] <= access) low = middle; else high = middle - 1;
    }
    return low;
  }
  // The frames of a thread after a step, the innermost last: function, place, and the bytes of each variable's row.
  frames(thread, step) {
    const {launch, number} = this.block(step), key = `${launch}.${number}.${thread}`;
    if (this.storyKey !== key) {
      this.storyKey = key;
      this.story = [];
      for (const {step: first, end} of this.blocks.filter(one => one.launch === launch && one.number === number)) {
        for (let s = first; s < end; ++s) {
          for (let i = this.moveStart[s]; i < this.moveStart[s + 1]; ++i)
            if (this.move_thread[i] === thread) this.story.push([s, true, i]);
          for (let i = this.variableStart[s]; i < this.variableStart[s + 1]; ++i)
            if (this.variable_thread[i] === thread) this.story.push([s, false, i]);
        }
      }
    }
    let frames = [];
    for (const [when, isMove, i] of this.story) {
      if (when > step) break;
      const depth = isMove ? this.move_depth[i] : 0;
      if (isMove) {
        frames = frames.slice(0, depth);
        while (frames.length < depth) frames.push({rows: new Map(), place: 0});
        if (depth && this.move_state[i] & 128) frames[depth - 1] = {rows: new Map(), place: 0};
        if (depth) frames[depth - 1].place = this.move_place[i];
      } else if (frames.length) {
        const at = this.variableAt[i], row = this.variable_number[i];
        frames[frames.length - 1].rows.set(row, {
          bytes: this.variable_values.subarray(at, at + this.known.rows[row]), isNew: when === step});
      }
    }
    return frames;
  }

  // ---------------------------------------------------------------- what it costs (runtime/requests.h)
  wavefronts(accesses) {
    const size = accesses[0].size, atOnce = size <= 4 ? 32 : size <= 8 ? 16 : 8;
    let total = 0, conflicts = 0;
    for (let part = 0; part < 32; part += atOnce) {
      const words = new Set();
      for (const one of accesses) {
        const lane = one.thread % 32;
        if (lane < part || lane >= part + atOnce) continue;
        for (let word = one.offset >> 2; word <= (one.offset + size - 1) >> 2; ++word) words.add(word);
      }
      if (!words.size) continue;
      const ofBank = new Array(32).fill(0);
      for (const word of words) ++ofBank[(word + (this.arrays[accesses[0].array].start / 4)) % 32];
      total += Math.max(...ofBank);
      conflicts += Math.max(...ofBank) - 1;
    }
    return {total, least: total - conflicts};
  }
  sectors(accesses) {
    const sectors = new Set(), bytes = new Set(), start = this.arrays[accesses[0].array].start;
    for (const one of accesses) {
      for (let i = 0; i < one.size; ++i) {
        bytes.add(one.offset + i);
        sectors.add(Math.floor((start + one.offset + i) / 32));
      }
    }
    return {total: sectors.size, least: Math.ceil(bytes.size / 32)};
  }
}
