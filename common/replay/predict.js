"use strict";
// Predict: before a step of the followed thread the page asks what it will do, and counts the right answers.

class Predict {
  constructor(film, values, view) {
    Object.assign(this, {film, values, view, on: false, asked: null, right: 0, total: 0});
  }
  toggle(on = !this.on) {
    this.on = on;
    this.asked = null;
    byId("predict").setAttribute("aria-pressed", on);
    byId("question").hidden = !on;
    document.body.classList.toggle("predicting", on);
    if (on) this.say("Go forward: you are asked before each step of the thread that you follow.", []);
  }

  // Goes to just before the next step of the followed thread, and asks about it.
  ask() {
    if (this.asked) return;
    const step = this.view.target("thread", 1);
    if (step === undefined) return this.say("This thread takes no further step.", []);
    this.view.go(step - 1);
    this.asked = this.question(step);
    this.say(this.asked.text, this.asked.choices);
  }

  question(step) {
    const {film, values, view} = this, {thread} = view;
    const own = film.accesses(step).find(one => one.thread === thread);
    const line = film.line(film.step_place[step]);
    if (own) {
      const array = film.arrays[own.array], index = Math.floor(own.offset / values.elementSize(array));
      if (own.what !== LOAD && values.elementSize(array) <= own.size && step % 2) return this.valueQuestion(step, own, array, index, line);
      const others = film.accesses(step).map(one => Math.floor(one.offset / values.elementSize(array)));
      const wrong = [index + 1, index - 1, thread, index + 32, ...others, 0].filter(one => one >= 0 && one < this.view.memory.layout(array).count);
      const asked = this.made(step, `Line ${line}: which element of ${array.title} does thread ${thread} ${["read", "write", "update"][own.what]}? ` +
        "Choose, or click the cell.", index, wrong, one => values.indexText(array, one), {array: own.array});
      if (asked.choices.length > 1) return asked;
    }
    return this.wayQuestion(step, line);
  }
  valueQuestion(step, own, array, index, line) {
    const {film, values, view} = this, now = values.element(array, index).text;
    film.go(step);
    const after = values.element(array, index).text.replace("·", "not written");
    const nearby = [1, -1, 2, -2].map(by => values.element(array, Math.max(0, index + by)).text);
    film.go(view.step);
    return this.made(step, `Line ${line}: what will ${values.indexText(array, index)} be after this step?`, after,
      [now === "·" ? "not written" : now, ...nearby, "0", "1"].filter(text => text && text !== "·"), String);
  }
  wayQuestion(step, line) {
    const {film, view} = this, {thread} = view;
    const way = () => film.state[thread] === STANDS ? `goes on to line ${film.line(film.place[thread])}`
      : film.state[thread] === ENDED ? "ends" : `waits in line ${film.line(film.place[thread])}`;
    const opened = film.barriers.includes(step);
    film.go(step);
    const count = film.threadCount(step), waiting = [...film.state.slice(0, count)].filter(state => state === AT_BARRIER).length;
    const after = way();
    film.go(view.step);
    if (opened || after.startsWith("waits") && waiting) {
      const most = opened ? 0 : waiting;
      return this.made(step, `Thread ${thread} arrives in line ${line}. How many of the block's ${count} threads wait there after this step?`, most,
        [0, count, most + 32, most - 32, Math.floor(count / 2), 1].filter(one => one >= 0 && one <= count), String);
    }
    // Other lines of the function, the nearest first.
    const [, , own] = film.known.places[film.step_place[step]] || [];
    const lines = [...new Set(film.known.places.filter(place => place && place[2] === own).map(place => place[1]))].filter(one => one !== line);
    lines.sort((a, b) => Math.abs(a - line) - Math.abs(b - line));
    const wrong = [...lines.slice(0, 3).map(one => `goes on to line ${one}`), "ends", `waits in line ${line}`];
    return this.made(step, `Thread ${thread} runs line ${line}. What does it do then?`, after, wrong, String);
  }
  made(step, text, right, wrong, name, more = {}) {
    const choices = [right];
    for (const one of wrong) if (choices.length < 4 && !choices.includes(one)) choices.push(one);
    const turn = step * 7 % choices.length;  // not always the first, and the same for everybody
    return {step, text, right, name, ...more, choices: [...choices.slice(turn), ...choices.slice(0, turn)]};
  }

  say(text, choices, verdict = "") {
    byId("question").className = verdict;
    byId("question").replaceChildren(element("p", {text}), ...choices.map((choice, i) => element("button", {
      text: `${i + 1}: ${this.asked.name(choice)}`, onclick: () => this.answer(choice)})),
    element("output", {text: this.total ? `${this.right} of ${this.total} right` : ""}));
  }
  answer(choice) {
    const {asked, view} = this, isRight = choice === asked.right;
    this.asked = null;
    ++this.total;
    this.right += isRight;
    view.go(asked.step);
    this.say(`${isRight ? "✓ Right" : "✗ No"}: ${asked.name(asked.right)}. ▶ asks the next.`, [], isRight ? "good" : "bad");
  }
  // A click on a cell answers the question for an element.
  answerCell(array, index) {
    if (!this.asked || this.asked.array !== array) return false;
    if (!this.asked.choices.includes(index)) this.asked.choices.push(index);
    this.answer(index);
    return true;
  }
  key(key) {
    const choice = this.asked && this.asked.choices[Number(key) - 1];
    if (choice === undefined || choice === null) return false;
    this.answer(choice);
    return true;
  }
}
