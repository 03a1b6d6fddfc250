"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  let errors = 0;
  const failed = (text) => {
    root.dataset.errors = String(++errors);
    $("trouble").hidden = false;
    $("trouble").textContent = `This page has a fault: ${text}`;
  };
  addEventListener("error", (event) => failed(event.message));
  addEventListener("unhandledrejection", (event) => failed(String(event.reason)));

  // Data

  const data = JSON.parse($("data").textContent);
  $("data").textContent = "";
  const sums = (differences, Type) => {
    const values = new Type(differences.length);
    let sum = 0;
    for (let i = 0; i < values.length; i++) values[i] = sum += differences[i];
    return values;
  };
  const start = sums(data.start, Float64Array);
  const count = start.length;
  let last = 1;
  for (let i = 0; i < count; i++) last = Math.max(last, start[i] + Math.max(0, data.duration[i]));
  for (const device of data.memory) {
    device.times = sums(device.times, Float64Array);
    if (device.times.length) last = Math.max(last, device.times[device.times.length - 1]);
  }
  const first = count ? Math.min(start[0], ...data.memory.map((device) => device.times[0] ?? Infinity)) : 0;
  const end = new Float64Array(count);
  for (let i = 0; i < count; i++) end[i] = data.duration[i] < 0 ? last : start[i] + data.duration[i];
  const call = sums(data.call, Int32Array);
  const nameOf = Uint32Array.from(data.name);
  const trackOf = Uint32Array.from(data.track);
  const numbersIn = data.details.map((text) => (text.match(/[\x01\x02]/g) || []).length);
  const numberAt = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) numberAt[i + 1] = numberAt[i] + numbersIn[data.detail[i]];
  const statusOf = (i) => data.status[i] || 0;
  const kindOf = (i) => data.names[nameOf[i]].kind;
  const isHost = (i) => data.tracks[trackOf[i]].host;

  const details = (i) => {
    let at = numberAt[i];
    const text = data.details[data.detail[i]].replace(/[\x01\x02]/g, (mark) =>
      mark === "\x01" ? `#${data.numbers[at++]}` : `0x${data.numbers[at++].toString(16)}`);
    return JSON.parse(text);
  };

  // By the number of its phase one: the runs of an executor, each a call of phase two and its task
  const phaseOne = new Map();
  const runs = new Map();
  const tasksOf = new Map();
  const add = (map, key, value) => {
    const known = map.get(key);
    if (known) known.push(value);
    else map.set(key, [value]);
  };
  for (let i = 0; i < count; i++) {
    const kind = kindOf(i);
    if (kind === "phase one") phaseOne.set(call[i], i);
    else if (kind === "phase two" && data.planned[i]) add(runs, call[i] - data.planned[i], i);
    else if (!isHost(i)) add(tasksOf, call[i], i);
  }

  // Words

  const time = (nanoseconds) => {
    const size = Math.abs(nanoseconds);
    for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (size >= factor) return `${(nanoseconds / factor).toFixed(size >= 100 * factor ? 0 : size >= 10 * factor ? 1 : 2)}\u00a0${unit}`;
    }
    return `${Math.round(nanoseconds)} ns`;
  };
  const bytes = (amount) => {
    for (const [unit, factor] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]]) {
      if (amount >= factor) return `${+(amount / factor).toPrecision(3)}\u00a0${unit}`;
    }
    return `${amount} byte${amount === 1 ? "" : "s"}`;
  };
  const many = (amount, word) => `${amount.toLocaleString("en")} ${word}${amount === 1 ? "" : "s"}`;
  const took = (i) => (data.duration[i] < 0 ? "did not end" : time(data.duration[i]));
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  };
  const TINTS = { "call": "--call", "phase one": "--phase-one", "phase two": "--phase-two", "kernel": "--kernel", "copy": "--copy", "fill": "--copy",
    "record": "--event", "wait": "--event", "reset": "--event", "callback": "--callback" };
  const tint = (i) => `var(${TINTS[kindOf(i)] || "--call"})`;
  const summary = (i) => {
    const facts = details(i);
    if (facts.error) return facts.error;
    if (facts.arguments) {
      return Object.entries(facts.arguments).map(([name, value]) => `${name} = ${value}`).join(", ") || data.names[nameOf[i]].summary || "no arguments";
    }
    return [...(facts.reads || []), ...(facts.writes || []).map((text) => `→ ${text}`), facts.event || ""].filter(Boolean).join(", ");
  };

  // Light and dark

  const dark = matchMedia("(prefers-color-scheme: dark)");
  let colors = {};
  const setTheme = (theme) => {
    root.dataset.theme = theme;
    $("theme").querySelector("span").textContent = theme === "dark" ? "Light" : "Dark";
    const style = getComputedStyle(root);
    colors = {};
    for (const name of ["--ink", "--soft", "--line", "--paper", "--code", "--bad", "--accent", "--pick", ...Object.values(TINTS)]) {
      colors[name] = style.getPropertyValue(name).trim();
    }
    draw();
  };
  $("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));

  // Time line

  const LABELS = 178;
  const LANE = 20;
  const GAP = 6;
  const AXIS = 22;
  const lanes = [];
  const rows = [];
  {
    const levels = data.tracks.map(() => 1);
    for (let i = 0; i < count; i++) levels[trackOf[i]] = Math.max(levels[trackOf[i]], Math.min(data.level[i] + 1, 6));
    let y = AXIS;
    let group = null;
    data.tracks.forEach((track, index) => {
      if (track.group !== group) {
        group = track.group;
        rows.push({ title: group, y });
        y += 20;
      }
      rows.push({ track: index, y, height: levels[index] * LANE });
      for (let level = 0; level < levels[index]; level++) lanes.push({ track: index, level, y: y + level * LANE, slices: [] });
      y += levels[index] * LANE + GAP;
    });
    rows.height = y + 4;
    const at = new Map(lanes.map((lane) => [lane.track * 8 + lane.level, lane]));
    for (let i = 0; i < count; i++) at.get(trackOf[i] * 8 + Math.min(data.level[i], 5)).slices.push(i);
    for (const lane of lanes) lane.slices = Uint32Array.from(lane.slices);
  }
  const failures = Object.keys(data.status).map(Number);
  const view = { from: first, to: last };
  const whole = () => {
    const margin = Math.max(1, (last - first) * 0.01);
    return { from: first - margin, to: last + margin };
  };
  let selected = -1;
  let pending = false;
  const canvas = $("timeline");
  const graph = $("memory");

  /** The first slice of a lane that starts at or after a moment. */
  const lower = (slices, moment) => {
    let low = 0;
    let high = slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start[slices[middle]] < moment) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const fitCanvas = (element, height) => {
    const ratio = devicePixelRatio || 1;
    const width = element.clientWidth;
    if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      element.style.height = `${height}px`;
    }
    const brush = element.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.font = '12px system-ui, "DejaVu Sans", sans-serif';
    brush.textBaseline = "middle";
    return [brush, width];
  };
  const scale = (width) => (width - LABELS - 8) / (view.to - view.from);
  const ticks = (width) => {
    const rough = (view.to - view.from) / Math.max(2, (width - LABELS) / 110);
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough);
    const found = [];
    for (let moment = Math.ceil((view.from - first) / step) * step; moment <= view.to - first; moment += step) found.push(moment);
    return found;
  };
  const tickText = (moment) => {
    if (Math.abs(moment) < 0.5) return "0";
    const [unit, factor] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, size]) => last - first >= size && Math.abs(moment) >= size) || ["ns", 1];
    return `${+(moment / factor).toPrecision(9)} ${unit}`;
  };
  const clipped = (brush, text, room) => {
    if (brush.measureText(text).width <= room) return text;
    const letter = brush.measureText("n").width;
    const fit = Math.floor(room / letter) - 1;
    return fit < 2 ? "" : `${text.slice(0, fit)}…`;
  };

  const drawLane = (brush, lane, width, pixels) => {
    const x = (moment) => LABELS + (moment - view.from) * pixels;
    const slices = lane.slices;
    let i = Math.max(0, lower(slices, view.from) - 1);
    while (i < slices.length) {
      const slice = slices[i];
      if (start[slice] > view.to) break;
      if (end[slice] < view.from) {
        i++;
        continue;
      }
      const left = Math.max(LABELS, x(start[slice]));
      const right = Math.min(width, x(end[slice]));
      brush.fillStyle = colors[TINTS[kindOf(slice)] || "--call"];
      if (right - left < 1.5) {
        // what is narrower than a pixel stands for all that begins in it
        brush.fillRect(left, lane.y + 1, 1.5, LANE - 3);
        i = Math.max(i + 1, lower(slices, view.from + (left + 1.5 - LABELS) / pixels));
        continue;
      }
      brush.fillRect(left, lane.y + 1, Math.max(1, right - left - (right - left > 3 ? 1 : 0)), LANE - 3);
      if (right - left > 34) {
        brush.fillStyle = "#fff";
        brush.fillText(clipped(brush, data.names[nameOf[slice]].name, right - left - 10), left + 5, lane.y + LANE / 2);
      }
      i++;
    }
  };

  const drawTimeline = () => {
    const [brush, width] = fitCanvas(canvas, rows.height);
    const pixels = scale(width);
    const x = (moment) => LABELS + (moment - view.from) * pixels;
    brush.fillStyle = colors["--soft"];
    for (const moment of ticks(width)) {
      const place = Math.round(x(moment + first)) + 0.5;
      if (place < LABELS) continue;
      brush.strokeStyle = colors["--line"];
      brush.beginPath();
      brush.moveTo(place, AXIS - 4);
      brush.lineTo(place, rows.height);
      brush.stroke();
      if (place + 60 < width) brush.fillText(tickText(moment), place + 3, 9);
    }
    for (const row of rows) {
      if (row.title !== undefined) {
        brush.fillStyle = colors["--soft"];
        brush.font = '600 11px system-ui, "DejaVu Sans", sans-serif';
        brush.fillText(clipped(brush, row.title.toUpperCase(), LABELS - 10), 2, row.y + 11);
        brush.font = '12px system-ui, "DejaVu Sans", sans-serif';
      } else {
        brush.fillStyle = colors["--code"];
        brush.fillRect(LABELS, row.y, width - LABELS, row.height);
        brush.fillStyle = colors["--ink"];
        brush.fillText(clipped(brush, data.tracks[row.track].name, LABELS - 16), 8, row.y + LANE / 2);
      }
    }
    for (const lane of lanes) drawLane(brush, lane, width, pixels);
    brush.fillStyle = colors["--bad"];
    let before = -9;
    for (const slice of failures) {
      if (end[slice] < view.from || start[slice] > view.to) continue;
      const left = Math.max(LABELS, x(start[slice]));
      if (left - before < 1) continue;
      before = left;
      brush.fillRect(left, laneY(slice) + LANE - 5, Math.max(3, Math.min(width, x(end[slice])) - left), 3);
    }
    drawArrows(brush, width, x);
  };
  const laneY = (slice) => rowOf(trackOf[slice]).y + Math.min(data.level[slice], 5) * LANE;
  const rowByTrack = new Map(rows.filter((row) => row.track !== undefined).map((row) => [row.track, row]));
  const rowOf = (track) => rowByTrack.get(track);

  const arrow = (brush, fromX, fromY, toX, toY) => {
    brush.beginPath();
    brush.moveTo(fromX, fromY);
    const bend = Math.max(18, Math.abs(toX - fromX) / 2);
    brush.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX - 5, toY);
    brush.stroke();
    brush.beginPath();
    brush.moveTo(toX, toY);
    brush.lineTo(toX - 7, toY - 4);
    brush.lineTo(toX - 7, toY + 4);
    brush.fill();
  };
  const drawArrows = (brush, width, x) => {
    brush.save();
    brush.beginPath();
    brush.rect(LABELS, 0, width - LABELS, rows.height);
    brush.clip();
    brush.lineWidth = 1.5;
    brush.strokeStyle = brush.fillStyle = colors["--event"];
    let drawn = 0;
    for (const [from, fromTrack, to, toTrack] of data.arrows) {
      if (to < view.from || from > view.to || ++drawn > 200) continue;
      arrow(brush, x(from), rowOf(fromTrack).y + LANE / 2, x(to), rowOf(toTrack).y + LANE / 2);
    }
    if (selected >= 0) {
      brush.strokeStyle = brush.fillStyle = colors["--ink"];
      for (const [from, to] of chain(selected)) {
        arrow(brush, x(end[from] < start[to] ? end[from] : start[from]), laneY(from) + LANE / 2, x(start[to]), laneY(to) + LANE / 2);
      }
      brush.lineWidth = 2.5;
      const left = x(start[selected]);
      brush.strokeRect(left - 1, laneY(selected), Math.max(4, x(end[selected]) - left + 2), LANE - 1);
    }
    brush.restore();
  };
  /** What led to what, around a slice: pairs of phase one, phase two and task. */
  const chain = (slice) => {
    const number = family(slice);
    const pairs = [];
    if (number === undefined) {
      for (const task of isHost(slice) ? tasksOf.get(call[slice]) || [] : []) pairs.push([slice, task]);
      return pairs;
    }
    for (const two of (runs.get(number) || []).slice(0, 50)) {
      pairs.push([phaseOne.get(number), two]);
      for (const task of tasksOf.get(call[two]) || []) pairs.push([two, task]);
    }
    return pairs;
  };
  /** The number of the phase one that a slice belongs to. */
  const family = (slice) => {
    if (kindOf(slice) === "phase one") return call[slice];
    const number = call[slice] - data.planned[slice];
    return data.planned[slice] && phaseOne.has(number) ? number : undefined;
  };

  const drawMemory = () => {
    const height = 84;
    const [brush, width] = fitCanvas(graph, height);
    const pixels = scale(width);
    let peak = 1;
    for (const device of data.memory) for (const amount of device.bytes) peak = Math.max(peak, amount);
    brush.fillStyle = colors["--code"];
    brush.fillRect(LABELS, 0, width - LABELS, height);
    brush.fillStyle = colors["--ink"];
    brush.fillText("device memory in use", 8, 12);
    brush.fillStyle = colors["--soft"];
    brush.fillText(data.memory.length ? `at most ${bytes(peak)}` : "none was allocated", 8, 30);
    const shades = ["--phase-one", "--kernel", "--event", "--callback", "--phase-two", "--copy"];
    data.memory.forEach((device, index) => {
      const color = colors[shades[index % shades.length]];
      if (data.memory.length > 1 && index < 3) {
        brush.fillStyle = color;
        brush.fillText(clipped(brush, device.name, LABELS - 16), 8, 48 + 15 * index);
      }
      const y = (amount) => height - 3 - (amount / peak) * (height - 12);
      const times = device.times;
      let low = 0;
      let high = times.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] < view.from) low = middle + 1;
        else high = middle;
      }
      let level = low ? device.bytes[low - 1] : 0;
      brush.beginPath();
      brush.moveTo(LABELS, y(level));
      let i = low;
      while (i < times.length && times[i] <= view.to) {
        const place = LABELS + (times[i] - view.from) * pixels;
        brush.lineTo(place, y(level));
        let most = device.bytes[i];
        const until = times[i] + 1 / pixels;
        level = device.bytes[i];
        while (i + 1 < times.length && times[i + 1] < until) {
          level = device.bytes[++i];
          most = Math.max(most, level);
        }
        brush.lineTo(place, y(most));
        brush.lineTo(place, y(level));
        i++;
      }
      const stop = Math.min(width, LABELS + (last - view.from) * pixels);
      brush.lineTo(Math.max(LABELS, stop), y(level));
      brush.strokeStyle = color;
      brush.lineWidth = 1.5;
      brush.stroke();
      if (data.memory.length === 1) {
        brush.lineTo(Math.max(LABELS, stop), height);
        brush.lineTo(LABELS, height);
        brush.globalAlpha = 0.18;
        brush.fillStyle = color;
        brush.fill();
        brush.globalAlpha = 1;
      }
    });
  };
  const drawNow = () => {
    pending = false;
    drawTimeline();
    drawMemory();
    root.dataset.drawn = "1";
  };
  const draw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(drawNow);
  };
  const show = (from, to) => {
    const all = whole();
    const span = Math.min(Math.max(to - from, 200), all.to - all.from);
    view.from = Math.min(Math.max(from, all.from), all.to - span);
    view.to = view.from + span;
    draw();
  };
  const zoom = (factor, around) => {
    const middle = around ?? (selected >= 0 && start[selected] < view.to && end[selected] > view.from
      ? Math.min(Math.max(start[selected], view.from), view.to) : (view.from + view.to) / 2);
    show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
  };
  const pan = (part) => show(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);
  const momentAt = (x) => view.from + (x - LABELS) / scale(canvas.clientWidth);
  const sliceAt = (x, y) => {
    const lane = lanes.find((one) => y >= one.y && y < one.y + LANE);
    if (!lane || x < LABELS) return -1;
    const slack = 3 / scale(canvas.clientWidth);
    const moment = momentAt(x);
    const at = lower(lane.slices, moment + slack) - 1;
    return at >= 0 && end[lane.slices[at]] >= moment - slack ? lane.slices[at] : -1;
  };

  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 800);
    else zoom(1.0015 ** event.deltaY, momentAt(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const shift = (drag.x - event.clientX) / scale(canvas.clientWidth);
      drag.moved = drag.moved || Math.abs(event.clientX - drag.x) > 3;
      if (drag.moved) show(drag.from + shift, drag.to + shift);
      $("tip").hidden = true;
      return;
    }
    const slice = sliceAt(event.offsetX, event.offsetY);
    const tip = $("tip");
    tip.hidden = slice < 0;
    if (slice < 0) return;
    tip.replaceChildren(make("b", {}, data.names[nameOf[slice]].name), make("br"),
      `${kindOf(slice)}, ${took(slice)}, at ${time(start[slice] - first)}`, make("br"), summary(slice).slice(0, 300));
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const slice = sliceAt(event.offsetX, event.offsetY);
      if (slice >= 0) select(slice);
    }
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  const laneOf = (slice) => lanes.find((lane) => lane.track === trackOf[slice] && lane.level === Math.min(data.level[slice], 5));
  const step = (by) => {
    if (selected < 0) return select(count ? 0 : -1, true);
    const { slices } = laneOf(selected);
    const at = lower(slices, start[selected]) + by;
    if (at >= 0 && at < slices.length) select(slices[at], true);
  };
  const otherTrack = (by) => {
    const used = lanes.filter((lane) => lane.slices.length);
    const at = selected < 0 ? 0 : used.indexOf(laneOf(selected)) + by;
    if (at < 0 || at >= used.length) return;
    const { slices } = used[at];
    select(slices[Math.min(slices.length - 1, lower(slices, selected < 0 ? first : start[selected]))], true);
  };
  const KEYS = {
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "_": () => zoom(1 / 0.6),
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), Home: () => show(whole().from, whole().to),
    n: () => step(1), p: () => step(-1), ArrowDown: () => otherTrack(1), ArrowUp: () => otherTrack(-1),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  $("zoom-in").addEventListener("click", () => zoom(0.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("fit").addEventListener("click", KEYS.Home);
  const reveal = (slice) => {
    let from = start[slice];
    let to = end[slice];
    for (const pair of chain(slice)) {
      for (const one of pair) {
        from = Math.min(from, start[one]);
        to = Math.max(to, end[one]);
      }
    }
    show(from - (to - from) * 0.25, to + (to - from) * 0.25);
  };
  $("locate").addEventListener("click", () => { if (selected >= 0) reveal(selected); });
  new ResizeObserver(draw).observe($("lanes"));

  // The list: only the rows that can be seen exist

  const ROW = 58;
  const list = $("list");
  const runway = $("runway");
  const CHOICES = [
    ["operators", "operators", (i) => kindOf(i) === "phase one"],
    ["calls", "all calls", (i) => isHost(i)],
    ["tasks", "tasks of streams", (i) => !isHost(i)],
    ["failed", "what failed", (i) => statusOf(i) !== 0 || data.duration[i] < 0],
  ];
  let shown = [];
  let placeOf = new Map();
  const choose = () => {
    const [, , wanted] = CHOICES.find(([key]) => key === $("which").value);
    const words = $("filter").value.trim().toLowerCase();
    const fits = data.names.map((name) => name.name.toLowerCase().includes(words));
    shown = [];
    for (let i = 0; i < count; i++) if (fits[nameOf[i]] && wanted(i)) shown.push(i);
    placeOf = new Map();
    shown.forEach((slice, place) => placeOf.set(slice, place));
    runway.style.height = `${Math.max(1, shown.length * ROW)}px`;
    list.style.height = `${Math.min(638, Math.max(3, shown.length) * ROW + 2)}px`;
    $("count").textContent = `${many(shown.length, "entry").replace("entrys", "entries")} of ${many(count, "call")} and tasks`;
    list.scrollTop = 0;
    fill();
  };
  const fill = () => {
    const begin = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const until = Math.min(shown.length, begin + Math.ceil(list.clientHeight / ROW) + 9);
    const made = [];
    for (let place = begin; place < until; place++) made.push(makeRow(place));
    runway.replaceChildren(...made);
    const active = placeOf.get(selected);
    if (active === undefined) list.removeAttribute("aria-activedescendant");
    else list.setAttribute("aria-activedescendant", `row-${active}`);
  };
  const makeRow = (place) => {
    const slice = shown[place];
    const status = statusOf(slice);
    const row = make("div", { "class": `row${status ? " failed" : ""}`, id: `row-${place}`, role: "option", "aria-selected": String(slice === selected),
      "aria-setsize": String(shown.length), "aria-posinset": String(place + 1), style: `top:${place * ROW}px;--tint:${tint(slice)}` },
      make("div", { "class": "name" }, make("span", {}, title(slice)), make("small", {}, status ? `${status}` : took(slice))),
      make("div", { "class": "what" }, summary(slice)));
    row.addEventListener("click", () => select(slice));
    return row;
  };
  const title = (slice) => {
    const { name, kind } = data.names[nameOf[slice]];
    return kind === "phase one" && $("which").value === "operators" ? name.replace(/GetWorkspaceSize$/, "") : name;
  };
  list.addEventListener("scroll", () => requestAnimationFrame(fill));
  list.addEventListener("keydown", (event) => {
    const at = placeOf.get(selected) ?? -1;
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
    if (event.key === "Enter" && selected >= 0) reveal(selected);
    if (target === undefined || !shown.length) return;
    event.preventDefault();
    select(shown[Math.min(Math.max(target, 0), shown.length - 1)]);
  });
  $("filter").addEventListener("input", choose);
  $("which").addEventListener("change", choose);

  const select = (slice, inView = false) => {
    if (slice < 0) return;
    selected = slice;
    const one = placeOf.has(slice) ? slice : phaseOne.get(family(slice));
    const place = placeOf.get(one ?? -1);
    if (place !== undefined) {
      if (place * ROW < list.scrollTop) list.scrollTop = place * ROW;
      else if ((place + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * ROW - list.clientHeight;
    }
    fill();
    showCard(slice);
    if (inView && (end[slice] < view.from || start[slice] > view.to)) {
      const half = (view.to - view.from) / 2;
      show(start[slice] - half, start[slice] + half);
    }
    canvas.setAttribute("aria-label", `Time line. Selected: ${data.names[nameOf[slice]].name}, ${took(slice)}`);
    draw();
  };

  // The card

  const code = (slice, facts) => {
    const { name, types = {}, results = [] } = data.names[nameOf[slice]];
    const lines = Object.entries(facts.arguments || {}).map(([key, value]) => [types[key] || "", key, value]);
    (facts.results || []).forEach((value, i) => lines.push([types[results[i]] || "", results[i] || "result", `→ ${value}`]));
    const block = make("pre", {}, `${name}(`);
    lines.forEach(([type, key, value], i) => block.append("\n    ", make("span", { "class": "type" }, type ? `${type} ` : ""), `${key} = `,
      make("span", { "class": "value" }, value), i + 1 < lines.length ? "," : ""));
    block.append(lines.length ? "\n)" : ")");
    return block;
  };
  const badge = (slice, facts) => {
    const status = statusOf(slice);
    if (data.duration[slice] < 0) return make("span", { "class": "badge bad" }, "did not end");
    if (status) return make("span", { "class": "badge bad" }, `${status} ${facts["status name"] || ""}`.trim());
    return make("span", { "class": "badge good" }, isHost(slice) ? "0 success" : "done");
  };
  const names = (operands) => (operands || []).map((text) => text.split(" ")[0]).join(", ");
  const strip = (slice) => {
    const number = family(slice);
    const box = make("div", { "class": "strip" });
    const part = (color, heading, ...texts) => box.append(make("div", { style: `--tint:var(${color})` }, make("b", {}, heading), ...texts.map((text) => make("p", {}, text))));
    if (number === undefined) return null;
    const one = phaseOne.get(number);
    const facts = details(one);
    const { checks = [], plan } = facts;
    const wrong = checks.findIndex((check) => check[2]);
    const operator = data.names[nameOf[one]].name.replace(/GetWorkspaceSize$/, "");
    const first = ["It looked at shapes, data types, formats and values. No element of any tensor was read."];
    if (statusOf(one)) {
      first.push(wrong >= 0 ? `Check ${wrong + 1} failed, so it stopped there: no plan, no executor.` : "It failed: no plan, no executor.");
    } else if (plan) {
      if (checks.length) first.push(`${many(checks.length, "check")} passed.`);
      if (plan.empty) first.push("A tensor is empty, so there is nothing to compute, and the plan says so.");
      else first.push(`The plan: read ${names(plan.reads) || "nothing"}, write ${names(plan.writes) || "nothing"}; ${plan.workspace
        ? `${bytes(plan.workspace)} of workspace for ${plan.parts.map((piece) => piece[0]).join(", ")}` : "no workspace is needed"}.`);
      first.push(`The executor keeps it: ${((facts.results || [])[1] || "").split(" ")[0]}.`);
    }
    part("--phase-one", `Phase one took ${took(one)}`, ...first);
    const launched = runs.get(number) || [];
    if (!launched.length) {
      part("--phase-two", "Phase two did not happen", statusOf(one) ? "There was no executor to run." : `${operator} was never called with this executor: nothing was computed.`);
      return box;
    }
    const chosen = launched.includes(slice) ? slice : launched.find((two) => (tasksOf.get(call[two]) || []).includes(slice)) ?? launched[0];
    const task = (tasksOf.get(call[chosen]) || [])[0];
    const said = details(chosen);
    const second = [];
    if (statusOf(chosen)) second.push(`It was refused with ${statusOf(chosen)}: ${said.error || said["status name"]}. Nothing was queued.`);
    else if (task === undefined) second.push(plan && plan.empty ? "There was nothing to queue." : "No task of it was seen to begin.");
    else {
      second.push(`It took the addresses of the tensors as they were, put the kernel on ${data.tracks[trackOf[task]].name} and returned.`);
      second.push(end[chosen] < start[task] ? `The kernel began ${time(start[task] - end[chosen])} after it had returned: the work is asynchronous.`
        : "The kernel began while the call was still returning: the stream was idle.");
    }
    if (launched.length > 1) second.push(`The executor is repeatable: it was run ${launched.length} times; this is run ${launched.indexOf(chosen) + 1}.`);
    part("--phase-two", `Phase two took ${took(chosen)}`, ...second);
    if (task !== undefined) {
      const end2 = data.duration[task] < 0 ? "It had not ended when the program did." : `It was done at ${time(end[task] - first0)}.`;
      part("--kernel", `The kernel ran for ${took(task)}`, `It read ${names((details(task)).reads) || "nothing"} and wrote ${names((details(task)).writes) || "nothing"} in device memory.`,
        statusOf(task) ? `It failed: ${details(task).error}. The program learns of it when it synchronizes the stream.` : end2);
    }
    return box;
  };
  const first0 = first;
  const showCard = (slice) => {
    const card = $("card");
    const number = family(slice);
    const one = number === undefined ? slice : phaseOne.get(number);
    const facts = details(slice);
    const { name, kind, summary: about } = data.names[nameOf[slice]];
    const parts = [
      make("h2", {}, name, badge(slice, facts)),
      make("p", { "class": "sub" }, `${kind}${isHost(slice) ? `, call ${call[slice]}` : ""} on ${data.tracks[trackOf[slice]].name}, ${took(slice)}, at ${time(start[slice] - first)}`
        + `${facts.from && facts.from !== "0x0" ? `, from ${data.places[facts.from] || facts.from}` : ""}`),
    ];
    if (about) parts.push(make("p", {}, about));
    if (facts.error) parts.push(make("p", { "class": "error" }, facts.error));
    const words = strip(slice);
    if (words) parts.push(words);
    if (facts.arguments) parts.push(make("h3", {}, "Called with"), code(slice, facts));
    else {
      const facing = [...(facts.reads || []).map((text) => ["reads", text]), ...(facts.writes || []).map((text) => ["writes", text])];
      if (facts.workspace) facing.push(["workspace", bytes(facts.workspace)]);
      if (facts.event) facing.push(["event", facts.event]);
      if (facing.length) parts.push(make("h3", {}, "Task"), make("table", {}, ...facing.map(([key, text]) => make("tr", {}, make("th", {}, key), make("td", {}, text)))));
    }
    if (one !== slice) {
      const planned = details(one);
      parts.push(make("h3", {}, "Planned by"), code(one, planned));
      cardOfPlan(parts, planned);
    } else cardOfPlan(parts, facts);
    card.replaceChildren(...parts);
    card.scrollTop = 0;
  };
  const cardOfPlan = (parts, { checks, plan }) => {
    if (checks && checks.length) {
      parts.push(make("h3", {}, "Checks, in order"), make("ol", { "class": "checks" }, ...checks.map(([rule, detail, failure]) =>
        make("li", failure ? { "class": "failed" } : {}, rule, make("small", {}, failure || detail)))));
    }
    if (!plan) return;
    parts.push(make("h3", {}, "Plan"), make("table", {},
      ...(plan.reads || []).map((text) => make("tr", {}, make("th", {}, "reads"), make("td", {}, text))),
      ...(plan.writes || []).map((text) => make("tr", {}, make("th", {}, "writes"), make("td", {}, text)))));
    parts.push(make("h3", {}, `Workspace: ${plan.workspace ? bytes(plan.workspace) : "none"}`));
    if (!plan.parts || !plan.parts.length) return;
    const shades = ["--phase-one", "--kernel", "--phase-two", "--copy", "--callback"];
    parts.push(make("div", { "class": "layout", "aria-hidden": "true" }, ...plan.parts.map(([name, , , , size], i) =>
      make("div", { style: `flex:${Math.max(size, 1)} 1 0;--tint:var(${shades[i % shades.length]})` }, name))));
    parts.push(make("table", {}, make("tr", {}, ...["offset", "bytes", "what", "shape", "type"].map((text) => make("th", {}, text))),
      ...plan.parts.map(([name, shape, type, offset, size]) => make("tr", {}, make("td", { "class": "number" }, String(offset)),
        make("td", { "class": "number" }, size.toLocaleString("en")), make("td", {}, name), make("td", {}, `[${shape.join(", ")}]`), make("td", {}, type)))));
  };

  // Findings

  const showFindings = () => {
    $("findings-box").hidden = !data.findings.length;
    $("findings-title").textContent = many(data.findings.length, "finding");
    $("findings").replaceChildren(...data.findings.map((finding) => {
      const box = make("div", { "class": "finding" }, make("b", {}, `${finding.kind}${finding.count > 1 ? ` (${finding.count} times)` : ""}`),
        make("p", {}, finding.text), make("p", { "class": "advice" }, finding.advice),
        ...finding.places.map(([role, place]) => make("p", { "class": "advice" }, [role, place].filter(Boolean).join(": "))));
      const [number, hit, lines] = finding.source.length ? finding.source : [0, 0, []];
      if (lines.length) {
        box.append(make("pre", {}, ...lines.map((line, i) =>
          make("span", number + i === hit ? { "class": "hit" } : {}, `${String(number + i).padStart(5)}  ${line}${number + i === hit ? "" : "\n"}`))));
      }
      return box;
    }));
  };

  // Start

  const operators = [...phaseOne.values()].length;
  $("title").textContent = data.title;
  document.title = `${data.title} · acl-emu report`;
  const calls = trackOf.reduce((sum, track) => sum + (data.tracks[track].host ? 1 : 0), 0);
  $("facts").textContent = [`${many(calls, "call")}, ${many(operators, "operator call")} and ${many(count - calls, "task")} in ${time(last - first)}`,
    failures.length ? `${failures.length} failed` : "nothing failed", data.leftOut ? `${many(data.leftOut, "later call")} or tasks are not shown` : "",
    data.died ? "the program died before its end" : "", `acl-emu ${data.version}`].filter(Boolean).join(" · ");
  for (const [name, text] of [["call", "call"], ["phase one", "phase one"], ["phase two", "phase two"], ["kernel", "kernel"], ["copy", "copy, fill"], ["record", "event"], ["callback", "callback"]]) {
    $("legend").append(make("span", {}, make("i", { style: `background:var(${TINTS[name]})` }), text));
  }
  $("which").append(...CHOICES.map(([key, text]) => make("option", { value: key }, text)));
  $("which").value = operators ? "operators" : "calls";
  canvas.setAttribute("aria-label", `Time line of ${many(data.tracks.length, "track")}`);
  showFindings();
  Object.assign(view, whole());
  setTheme(dark.matches ? "dark" : "light");
  choose();
  if (data.died) {
    $("which").value = "calls";
    choose();
  }
  if (shown.length) select(shown.find((slice) => statusOf(slice) || data.duration[slice] < 0) ?? (data.died ? shown[shown.length - 1] : shown[0]));
  root.dataset.tracks = String(data.tracks.length);
  root.dataset.cards = String(shown.length);
  root.dataset.rows = String(runway.children.length);
  drawNow();
  root.dataset.ready = "1";
})();
