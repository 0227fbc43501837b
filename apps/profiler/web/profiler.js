// SPDX-License-Identifier: Apache-2.0
// Draws what data.js holds: rows of bars over time, and a table. A row is a core or an op; wheel, drag and keys move through time.
(() => {
  "use strict";
  const data = window.profile;
  const LABEL = 130, AXIS = 22;

  function element(name, properties = {}, ...children) {
    const out = Object.assign(document.createElement(name), properties);
    out.append(...children);
    return out;
  }

  function table(heading, rows) {
    const line = (cell, fields) => element("tr", {}, ...fields.map((text) => element(cell, {textContent: text})));
    return element("table", {}, element("thead", {}, line("th", heading)), element("tbody", {}, ...rows.map((fields) => line("td", fields))));
  }

  // Round steps, at most ten of them.
  function stepOf(span) {
    const power = 10 ** Math.floor(Math.log10(Math.max(span, 1) / 10));
    return Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((step) => span / step <= 10));
  }

  class Plot {
    // rows: [{name, bars: [{lane, begin, end, text}]}]; a bar of lane -1 is as high as its row, behind the others.
    constructor(rows, lanes, first, last) {
      Object.assign(this, {rows, lanes, first, last: Math.max(last, first + 1)});
      this.laneHeight = rows.length * lanes > 4000 ? 2 : 4;
      this.rowHeight = Math.max(this.laneHeight * lanes + 4, 14);
      this.canvas = element("canvas", {tabIndex: 0});
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", "bars over time; arrow keys move, plus and minus zoom, 0 shows all");
      this.facts = element("p", {id: "facts"});
      this.facts.setAttribute("aria-live", "polite");
      this.fit();
      this.listen();
    }

    fit() {
      this.begin = this.first;
      this.end = this.last;
    }

    get width() { return this.canvas.clientWidth - LABEL; }
    x(cycle) { return LABEL + (cycle - this.begin) / (this.end - this.begin) * this.width; }
    cycle(x) { return this.begin + (x - LABEL) / this.width * (this.end - this.begin); }

    zoom(factor, at) {
      const span = Math.min(Math.max((this.end - this.begin) * factor, 10), this.last - this.first);
      const part = (at - this.begin) / (this.end - this.begin);
      this.show(at - part * span, span);
    }

    show(begin, span) {
      this.begin = Math.min(Math.max(begin, this.first), this.last - span);
      this.end = this.begin + span;
      this.draw();
    }

    listen() {
      this.canvas.addEventListener("wheel", (event) => {
        if (event.shiftKey || event.deltaY === 0) return;
        event.preventDefault();
        this.zoom(2 ** (event.deltaY / 300), this.cycle(event.offsetX));
      }, {passive: false});
      let held = null;
      this.canvas.addEventListener("pointerdown", (event) => { held = {x: event.offsetX, begin: this.begin}; });
      window.addEventListener("pointerup", () => { held = null; });
      this.canvas.addEventListener("pointermove", (event) => {
        if (held) {
          this.show(held.begin - (event.offsetX - held.x) / this.width * (this.end - this.begin), this.end - this.begin);
        } else {
          this.tell(this.barAt(event.offsetX, event.offsetY));
        }
      });
      const span = () => this.end - this.begin;
      const keys = {
        ArrowLeft: () => this.show(this.begin - span() / 5, span()), ArrowRight: () => this.show(this.begin + span() / 5, span()),
        "+": () => this.zoom(0.5, (this.begin + this.end) / 2), "-": () => this.zoom(2, (this.begin + this.end) / 2),
        0: () => { this.fit(); this.draw(); },
      };
      this.canvas.addEventListener("keydown", (event) => {
        if (!(event.key in keys)) return;
        event.preventDefault();
        keys[event.key]();
      });
      window.addEventListener("resize", () => this.draw());
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    tell(bar) { this.facts.textContent = bar ? bar.text : ""; }

    barAt(x, y) {
      const row = this.rows[Math.floor((y - AXIS) / this.rowHeight)];
      if (!row || x < LABEL) return null;
      const lane = Math.floor(((y - AXIS) % this.rowHeight - 2) / this.laneHeight), at = this.cycle(x);
      const here = row.bars.filter((bar) => bar.begin <= at && at <= bar.end);
      return here.find((bar) => bar.lane === lane) ?? here.find((bar) => bar.lane === -1) ?? here[0] ?? null;
    }

    draw() {
      const scale = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue(name);
      const height = AXIS + this.rows.length * this.rowHeight;
      this.canvas.style.height = `${height}px`;
      this.canvas.width = this.canvas.clientWidth * scale;
      this.canvas.height = Math.min(height * scale, 32000);
      const context = this.canvas.getContext("2d");
      context.scale(scale, this.canvas.height / height);
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "middle";
      this.drawAxis(context, height, colour);
      this.rows.forEach((row, r) => {
        const top = AXIS + r * this.rowHeight;
        context.fillStyle = colour("--ink");
        context.fillText(row.name, 4, top + this.rowHeight / 2, LABEL - 8);
        for (const bar of row.bars) {
          if (bar.end < this.begin || bar.begin > this.end) continue;
          const from = Math.max(this.x(bar.begin), LABEL), to = Math.min(this.x(bar.end), LABEL + this.width);
          context.fillStyle = colour(bar.lane < 0 ? "--firmware" : `--lane-${bar.lane % 8}`);
          context.fillRect(from, bar.lane < 0 ? top + 1 : top + 2 + bar.lane * this.laneHeight, Math.max(to - from, 1),
                           bar.lane < 0 ? this.rowHeight - 2 : this.laneHeight - 1);
        }
      });
    }

    drawAxis(context, height, colour) {
      const step = stepOf(this.end - this.begin);
      context.strokeStyle = colour("--line");
      context.fillStyle = colour("--faint");
      for (let at = Math.ceil(this.begin / step) * step; at <= this.end; at += step) {
        context.beginPath();
        context.moveTo(this.x(at), AXIS - 4);
        context.lineTo(this.x(at), height);
        context.stroke();
        context.fillText(String(at), this.x(at) + 2, AXIS / 2);
      }
    }

    get node() {
      const button = (text, label, action) => element("button", {type: "button", textContent: text, ariaLabel: label, onclick: action});
      const middle = () => (this.begin + this.end) / 2;
      return [
        element("div", {className: "tools"},
          button("+", "zoom in", () => this.zoom(0.5, middle())), button("−", "zoom out", () => this.zoom(2, middle())),
          button("all", "show all", () => { this.fit(); this.draw(); }),
          ...data.lanes.map((name, lane) => {
            const key = element("span", {className: "key", textContent: name});
            key.style.setProperty("--colour", `var(--lane-${lane % 8})`);
            return key;
          }),
          element("span", {className: "note", textContent: "cycles; the wheel zooms, dragging moves"})),
        element("div", {className: "plot"}, this.canvas), this.facts];
    }
  }

  function duration(begin, end) {
    const cycles = end - begin, ns = data.clock_hz > 0 ? ` (${(cycles / data.clock_hz * 1e9).toFixed(0)} ns)` : "";
    return `cycles ${begin} to ${end}: ${cycles}${ns}`;
  }

  document.getElementById("title").textContent = data.title;
  document.title = data.title;
  const main = document.getElementById("main");
  let first = Infinity, last = 0;
  const rows = data.rows.map(([name, bars]) => ({name, bars: bars.map(([lane, begin, end, text]) => {
    first = Math.min(first, begin);
    last = Math.max(last, end);
    return {lane, begin, end, text: `${name}: ${text}, ${duration(begin, end)}`};
  })}));
  if (rows.length > 0) {
    const plot = new Plot(rows, data.lanes.length, first, last);
    main.append(...plot.node);
    plot.draw();
    window.plot = plot;
  }
  for (const [heading, columns, lines] of data.tables) main.append(element("h2", {textContent: heading}), table(columns, lines));
  if (data.download) Object.assign(document.getElementById("download"), {href: data.download, hidden: false});
  document.body.dataset.ready = "yes";
})();
