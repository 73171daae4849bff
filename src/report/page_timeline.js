// The timeline: a strip with the whole trace, and a row for each vp. `view` is the part of time that the rows show, in
// ns.
const AXIS = 22, HEAD = 20;
const canvas = byId("rows"), overview = byId("overview");
const view = {from: 0, to: runLength};
// Widths are whole pixels, so that edges are sharp.
const layout = {width: 0, gutter: 0, rowHeight: 20, top: [], height: 0};
let chosen = null; // {row, list, index} of the slice that a key or a click has chosen; null: none

const prepare = (target, width, height) => {
  const dots = window.devicePixelRatio || 1;
  target.width = Math.round(width * dots);
  target.height = Math.round(height * dots);
  target.style.width = `${width}px`;
  target.style.height = `${height}px`;
  const pen = target.getContext("2d");
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
  pen.textBaseline = "middle";
  return pen;
};

const place = () => {
  layout.rowHeight = Math.max(4, Math.min(22, Math.floor(900 / Math.max(1, rows.length))));
  layout.top = [];
  let y = AXIS;
  rows.forEach((row, i) => {
    if (several && (i === 0 || rows[i - 1].number !== row.number)) y += HEAD;
    layout.top.push(y);
    y += layout.rowHeight;
  });
  layout.height = y + 4;
  canvas.style.height = `${layout.height}px`;
  layout.width = byId("rows-box").clientWidth; // without the scroll bar, which many rows have
  layout.gutter = layout.width < 560 ? 84 : 110;
};
const scale = () => (layout.width - layout.gutter) / (view.to - view.from);
const toX = (time) => layout.gutter + (time - view.from) * scale();
const toTime = (x) => view.from + (x - layout.gutter) / scale();

const shortened = (pen, text, width) => {
  if (pen.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && pen.measureText(`${text.slice(0, n)}\u2026`).width > width) n--;
  return n > 1 ? `${text.slice(0, n)}\u2026` : "";
};

// Returns the first index whose number is larger than `at`.
const firstAbove = (numbers, at) => {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > at) high = middle; else low = middle + 1;
  }
  return low;
};

// Adds a row's shares to `columns`, one for each pixel between the times `from` and `to`.
const addColumns = (row, from, to, columns) => {
  const width = columns.length / FREE, perPixel = (to - from) / width, num = row.bins.length / FREE;
  const first = Math.max(0, Math.floor((from - row.binsFrom) / row.bin));
  const last = Math.min(num, Math.ceil((to - row.binsFrom) / row.bin));
  for (let i = first; i < last; i++) {
    const begin = (row.binsFrom + i * row.bin - from) / perPixel, end = begin + row.bin / perPixel;
    for (let x = Math.max(0, Math.floor(begin)); x < Math.min(width, end); x++) {
      const part = Math.min(end, x + 1) - Math.max(begin, x);
      for (let s = 0; s < FREE; s++) columns[x * FREE + s] += part * row.bins[i * FREE + s];
    }
  }
};

// For low rows: draws only the state with the largest share of each pixel, if that is at least a quarter.
const drawLargest = (pen, columns, top, height) => {
  const num = columns.length / FREE;
  for (let x = 0, begin = 0, state = -1; x <= num; x++) {
    let most = x < num ? 0 : -1;
    for (let s = 1; s < FREE && most >= 0; s++) if (columns[x * FREE + s] > columns[x * FREE + most]) most = s;
    if (most >= 0 && columns[x * FREE + most] < 0.25) most = -1;
    if (most === state && x < num) continue;
    if (state >= 0) {
      pen.fillStyle = colours[STATES[state].key];
      pen.fillRect(layout.gutter + begin, top, x - begin, height);
    }
    begin = x;
    state = most;
  }
};

// Draws shares as stacked columns, useful work at the bottom.
const drawColumns = (pen, columns, whole, top, height) => {
  for (let x = 0; x < columns.length / FREE; x++) {
    for (let s = 0, y = top + height; s < FREE; s++) {
      const tall = Math.min(y - top, columns[x * FREE + s] / whole * height);
      if (tall <= 0) continue;
      y -= tall;
      pen.fillStyle = colours[STATES[s].key];
      pen.fillRect(layout.gutter + x, y, 1, tall);
    }
  }
};

const drawBins = (pen, row, top, height) => {
  const columns = new Float32Array((layout.width - layout.gutter) * FREE);
  addColumns(row, view.from, view.to, columns);
  if (height < 8) drawLargest(pen, columns, top, height);
  else drawColumns(pen, columns, 1, top, height);
};

const inkOn = (state) => ["useful", "locks", "runtime", "mpi"].includes(STATES[state].key) &&
  !matchMedia("(prefers-color-scheme: dark)").matches ? "#fff" : STATES[state].key === "parked" ? colours.text : "#111";

const drawLeaves = (pen, row, top, height, binsShown) => {
  const {begin, end, path} = row.leaves, right = layout.width;
  for (let i = firstAbove(end, view.from); i < begin.length && begin[i] < view.to; i++) {
    const x = Math.round(Math.max(layout.gutter, toX(begin[i])));
    const width = Math.max(1, Math.round(Math.min(right, toX(end[i]))) - x);
    if (binsShown && toX(end[i]) - toX(begin[i]) < 1) continue;
    const [text, state] = nameOfPath(path[i]);
    pen.fillStyle = colours[STATES[state].key];
    pen.fillRect(x, top, width, height);
    if (width < 3 || height < 8) continue;
    pen.fillStyle = colours.back; // a gap between slices
    pen.fillRect(x + width - 0.6, top, 0.6, height);
    if (width > 40 && height >= 14) {
      pen.fillStyle = inkOn(state);
      pen.fillText(shortened(pen, text, width - 8), x + 4, top + height / 2 + 0.5);
    }
  }
};

const drawAxis = (pen) => {
  const wanted = (view.to - view.from) / Math.max(2, (layout.width - layout.gutter) / 110);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].find((n) => n * power >= wanted) * power;
  for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
    const x = toX(i * step);
    pen.fillStyle = colours.grid;
    pen.fillRect(x, AXIS - 4, 1, layout.height - AXIS);
    pen.fillStyle = colours.quiet;
    const text = timeText(i * step), width = pen.measureText(text).width;
    pen.fillText(text, Math.min(layout.width - width, Math.max(layout.gutter, x - width / 2)), AXIS / 2 - 1);
  }
};

const drawMarks = (pen, row, top) => {
  for (const {time} of row.marks) {
    if (time < view.from || time > view.to) continue;
    const x = toX(time);
    pen.fillStyle = colours.chosen;
    pen.beginPath();
    pen.moveTo(x - 4, top);
    pen.lineTo(x + 4, top);
    pen.lineTo(x, top + 7);
    pen.fill();
  }
};

const drawRows = () => {
  const pen = prepare(canvas, layout.width, layout.height);
  drawAxis(pen);
  const every = Math.ceil(13 / layout.rowHeight); // so that labels do not overlap
  rows.forEach((row, i) => {
    const top = layout.top[i], height = layout.rowHeight - (layout.rowHeight > 8 ? 2 : 0);
    if (several && (i === 0 || rows[i - 1].number !== row.number)) {
      pen.fillStyle = colours.text;
      pen.fillText(shortened(pen, processName(row.process, row.number), layout.width - 8), 0, top - HEAD / 2);
    }
    pen.fillStyle = chosen && chosen.row === i ? colours.accent : colours.text;
    if (i % every === 0) pen.fillText(shortened(pen, row.name, layout.gutter - 6), 0, top + layout.rowHeight / 2);
    pen.fillStyle = colours.free;
    if (row.isVp) pen.fillRect(layout.gutter, top, layout.width - layout.gutter, height);
    pen.save();
    pen.beginPath();
    pen.rect(layout.gutter, 0, layout.width - layout.gutter, layout.height);
    pen.clip();
    // Bins are drawn where the row does not have all slices, or where a bin is narrower than two pixels: then they show
    // the slices that are too short to be drawn one by one.
    const binsShown = row.track.dropped > 0 || row.bin * scale() < 2;
    if (binsShown) drawBins(pen, row, top, height);
    drawLeaves(pen, row, top, height, binsShown);
    drawMarks(pen, row, top);
    pen.restore();
  });
  if (chosen) {
    const {begin, end} = chosen.list, top = layout.top[chosen.row];
    const x = Math.max(layout.gutter, toX(begin[chosen.index])), until = Math.min(layout.width, toX(end[chosen.index]));
    pen.strokeStyle = colours.chosen;
    pen.lineWidth = 2;
    if (until >= x) pen.strokeRect(x, top, Math.max(2, until - x), layout.rowHeight - 2);
  }
};

// The sum of all rows; computed again only if the width changes.
let columns = new Float32Array(0);
const sumColumns = (width) => {
  if (columns.length === width * FREE) return columns;
  columns = new Float32Array(width * FREE);
  for (const row of rows) addColumns(row, 0, runLength, columns);
  return columns;
};

const drawOverview = () => {
  const height = 56, pen = prepare(overview, layout.width, height), width = Math.max(1, layout.width - layout.gutter);
  pen.fillStyle = colours.quiet;
  pen.fillText("all rows", 0, height / 2);
  pen.fillStyle = colours.free;
  pen.fillRect(layout.gutter, 0, width, height);
  drawColumns(pen, sumColumns(width), Math.max(1, rows.filter((row) => row.isVp).length), 0, height);
  const from = layout.gutter + view.from / runLength * width, to = layout.gutter + view.to / runLength * width;
  if (view.to - view.from >= runLength) return;
  pen.fillStyle = colours.back;
  pen.globalAlpha = 0.65;
  pen.fillRect(layout.gutter, 0, from - layout.gutter, height);
  pen.fillRect(to, 0, layout.width - to, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = colours.chosen;
  pen.lineWidth = 2;
  pen.strokeRect(from, 1, Math.max(2, to - from), height - 2);
};

const rangeText = () => view.to - view.from >= runLength ? `all of it: ${timeText(runLength)}`
  : `${timeText(view.to - view.from)} from ${timeText(view.from)} on`;
const drawNow = () => {
  drawRows();
  drawOverview();
  byId("range").textContent = rangeText();
};
let drawing = false;
const draw = () => {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawNow();
  });
};

const show = (from, to) => {
  const length = Math.min(runLength, Math.max(20, to - from));
  view.from = Math.max(0, Math.min(runLength - length, from));
  view.to = view.from + length;
  draw();
};
const zoom = (factor, at = (view.from + view.to) / 2) =>
  show(at - (at - view.from) / factor, at + (view.to - at) / factor);
const pan = (share) => {
  const by = share * (view.to - view.from);
  show(view.from + by, view.to + by);
};

// Returns what is at a time in a row: {list, index} of a slice, the shares of a bin in `mix`, and a mark.
const find = (number, time) => {
  const row = rows[number], {leaves, outer} = row;
  const mark = row.marks.find((m) => Math.abs(m.time - time) * scale() < 5);
  const leaf = firstAbove(leaves.end, time);
  if (leaf < leaves.n && leaves.begin[leaf] <= time) return {row: number, mark, list: leaves, index: leaf};
  let index = firstAbove(outer.end, time); // ends increase, so the first slice around the time is the innermost
  while (index < outer.n && outer.begin[index] > time) index++;
  const bin = Math.floor((time - row.binsFrom) / row.bin);
  const mix = row.track.dropped > 0 ? row.bins.subarray(bin * FREE, (bin + 1) * FREE) : [];
  return {row: number, mark, list: index < outer.n ? outer : null, index, mix};
};

const describe = ({row, mark, list, index, mix}) => {
  const lines = [];
  const shortOnes = mix && sum([...mix]) > 0;
  if (mark) lines.push(`${mark.name} at ${timeText(mark.time)}`);
  if (shortOnes) {
    const parts = STATES.slice(0, FREE).map((s, i) => [mix[i], s.name]).filter(([share]) => share > 0);
    parts.sort((a, b) => b[0] - a[0]);
    lines.push(`slices shorter than ${timeText(Math.max(1, data.shortest))}: ` +
      parts.map(([share, name]) => `${name} ${Math.round(100 * share)} %`).join(", "));
  }
  if (list) {
    const [text, state, at] = nameOfPath(list.path[index]), path = list.path[index];
    const length = timeText(list.end[index] - list.begin[index]);
    const inside = around(path), where = placeText(at);
    lines.push(`${shortOnes ? "within " : ""}${text}: ${length}${shortOnes ? "" : `, ${STATES[state].name}`}`);
    if (where) lines.push(where);
    if (inside.length) lines.push(`inside ${inside.join(", inside ")}`);
    lines.push(`${rowName(rows[row])}, from ${timeText(list.begin[index])} on`);
  } else if (!mark || shortOnes) {
    if (!shortOnes) lines.push(STATES[FREE].name);
    lines.push(rowName(rows[row]));
  }
  return lines;
};

const rowAt = (y) => layout.top.findIndex((top) => y >= top && y < top + layout.rowHeight);
const tip = byId("tip");
const point = (event) => {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const row = rowAt(y);
  tip.hidden = row < 0 || x < layout.gutter;
  if (tip.hidden) return;
  const lines = describe(find(row, toTime(x)));
  tip.textContent = lines.slice(0, 3).join("\n");
  byId("details").textContent = lines.join("\n");
  const around = byId("timeline").getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(x + 12, layout.width - tip.offsetWidth))}px`;
  tip.style.top = `${event.clientY - around.top + 18}px`;
};

const choose = (row, time) => {
  const found = find(row, time);
  chosen = found.list ? found : {row, list: {begin: [0], end: [0]}, index: 0, none: true};
  byId("details").textContent = describe(found).join("\n");
  draw();
};

// Chooses the slice before or after the chosen one in its row.
const step = (by) => {
  const row = chosen ? chosen.row : 0, {leaves} = rows[row];
  let index = chosen && chosen.list === leaves ? chosen.index + by : firstAbove(leaves.end, view.from);
  index = Math.max(0, Math.min(leaves.n - 1, index));
  if (leaves.n === 0) return;
  chosen = {row, list: leaves, index};
  const length = view.to - view.from;
  if (leaves.begin[index] < view.from || leaves.end[index] > view.to) {
    const middle = (leaves.begin[index] + leaves.end[index]) / 2;
    show(middle - length / 2, middle + length / 2);
  }
  byId("details").textContent = describe(chosen).join("\n");
  draw();
};

const chooseRow = (by) => {
  const row = Math.max(0, Math.min(rows.length - 1, chosen ? chosen.row + by : 0));
  if (rows.length === 0) return;
  choose(row, (view.from + view.to) / 2);
  const box = byId("rows-box"), top = layout.top[row];
  if (top < box.scrollTop) box.scrollTop = top - AXIS;
  if (top + layout.rowHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top + layout.rowHeight - box.clientHeight;
  }
};

const zoomToChosen = () => {
  if (!chosen || chosen.none) return;
  const begin = chosen.list.begin[chosen.index], end = chosen.list.end[chosen.index];
  show(begin - (end - begin) * 0.2, end + (end - begin) * 0.2);
};

const KEYS = {
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => chooseRow(-1), ArrowDown: () => chooseRow(1),
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), Home: () => show(0, runLength),
  End: () => show(runLength - (view.to - view.from), runLength), n: () => step(1), p: () => step(-1),
  Enter: zoomToChosen,
};
canvas.addEventListener("keydown", (event) => {
  const action = event.ctrlKey || event.altKey || event.metaKey ? undefined
    : KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

let dragged = null; // {x, from, moved} while the pointer is down
canvas.addEventListener("pointerdown", (event) => {
  dragged = {x: event.clientX, from: view.from, moved: false};
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!dragged) {
    point(event);
    return;
  }
  const by = (event.clientX - dragged.x) / scale(), length = view.to - view.from;
  dragged.moved = dragged.moved || Math.abs(event.clientX - dragged.x) > 3;
  tip.hidden = true;
  if (dragged.moved) show(dragged.from - by, dragged.from - by + length);
});
canvas.addEventListener("pointerup", (event) => {
  const box = canvas.getBoundingClientRect(), row = rowAt(event.clientY - box.top);
  if (dragged && !dragged.moved && row >= 0) choose(row, toTime(event.clientX - box.left));
  dragged = null;
});
canvas.addEventListener("pointercancel", () => { dragged = null; });
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
canvas.addEventListener("dblclick", (event) => zoom(4, toTime(event.clientX - canvas.getBoundingClientRect().left)));
canvas.addEventListener("wheel", (event) => {
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!event.ctrlKey && !sideways) return; // lets the document scroll
  event.preventDefault();
  if (sideways) pan(event.deltaX / layout.width);
  else zoom(2 ** (-event.deltaY / 200), toTime(event.clientX - canvas.getBoundingClientRect().left));
}, {passive: false});

// The strip: a drag selects a part of time, a click moves the view there.
const overviewTime = (event) => {
  const box = overview.getBoundingClientRect(), x = event.clientX - box.left - layout.gutter;
  return Math.max(0, Math.min(1, x / (layout.width - layout.gutter))) * runLength;
};
let partFrom = null;
overview.addEventListener("pointerdown", (event) => {
  partFrom = {time: overviewTime(event), x: event.clientX};
  overview.setPointerCapture(event.pointerId);
});
overview.addEventListener("pointermove", (event) => {
  if (!partFrom || Math.abs(event.clientX - partFrom.x) < 4) return;
  const time = overviewTime(event);
  show(Math.min(time, partFrom.time), Math.max(time, partFrom.time));
});
overview.addEventListener("pointerup", (event) => {
  const length = view.to - view.from, time = overviewTime(event);
  if (partFrom && Math.abs(event.clientX - partFrom.x) < 4) show(time - length / 2, time + length / 2);
  partFrom = null;
});

byId("zoom-in").addEventListener("click", () => zoom(2));
byId("zoom-out").addEventListener("click", () => zoom(0.5));
byId("zoom-all").addEventListener("click", () => show(0, runLength));
