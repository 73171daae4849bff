// The head of the page, its tables and its plots.

// Makes a sortable table. columns: [{name, value: (row) => a number or text to sort by, text: (row) => the text shown,
// more: an explanation, isText, node: (row) => elements shown instead of a text, title: (row) => the cell's
// explanation}]. order: the index of the column by which the table is sorted at first.
const makeTable = (box, columns, list, order) => {
  const at = byId(box);
  if (list.length === 0) {
    at.replaceChildren(element("p", "None in this run.", {class: "empty"}));
    return;
  }
  const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const fill = (column, down) => {
    const {value, isText} = columns[column];
    const sorted = [...list].sort((a, b) => isText ? value(a).localeCompare(value(b), "en", {numeric: true})
      : value(a) - value(b));
    if (down) sorted.reverse();
    [...head.cells].forEach((cell, i) => {
      if (i === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren(...sorted.map((row) => {
      const line = element("tr");
      for (const {isText: text, node, text: shown, title} of columns) {
        const cell = element("td", node ? undefined : shown(row), text ? {class: "text"} : {});
        if (node) cell.append(...node(row));
        if (title) cell.title = title(row);
        line.append(cell);
      }
      return line;
    }));
  };
  columns.forEach(({name, value, isText, more}, i) => {
    const cell = element("th", undefined, {scope: "col", ...(isText ? {class: "text"} : {})});
    if (value) {
      const button = element("button", name, {type: "button"});
      button.addEventListener("click", () => fill(i, isText ? cell.getAttribute("aria-sort") === "ascending"
        : cell.getAttribute("aria-sort") !== "descending"));
      cell.append(button);
    } else {
      cell.textContent = name;
    }
    if (more) cell.title = more;
    head.append(cell);
  });
  fill(order, !columns[order].isText);
  at.replaceChildren(table);
};

const number = (name, value, more) => ({name, value, text: (row) => countText(value(row)), more});
const duration = (name, value, more) => ({name, value, text: (row) => timeText(value(row)), more});
const share = (name, value, more) => ({name, value, text: (row) => shareText(value(row)), more});
const placeColumn = (name, of, more = () => "") => ({
  name, isText: true, value: (row) => of(row) ? of(row).label : "",
  node: (row) => of(row) ? [element("span", of(row).label), " ",
    element("small", `${of(row).function || ""}${more(row)}`)] : ["\u2013"],
  title: (row) => of(row) ? of(row).file || of(row).label : "",
});

const processFacts = (p) => {
  const facts = [];
  const counted = (n, what) => `${countText(n)} ${what}${n === 1 ? "" : "s"}`;
  if (p.vps) facts.push(counted(p.vps, "vp") + (p.processors ? ` on ${counted(p.processors, "processor")}` : ""));
  facts.push(`${timeText(p.wall || p.length)}`);
  if (p.events) facts.push(counted(p.events, "event"));
  return facts.join(", ");
};

const makeHead = () => {
  const first = data.processes[0], command = first.command || first.name || first.file;
  byId("title").textContent = command;
  document.title = `${command} \u2013 psthreads report`;
  byId("facts").textContent = several
    ? `${data.processes.length} processes: ${data.processes.map((p, i) => `${processName(p, i)} (${processFacts(p)})`)
      .slice(0, 8).join("; ")}${data.processes.length > 8 ? "; ..." : ""}`
    : processFacts(first);
  const notes = [];
  const lost = sum(data.processes.map((p) => p.lost));
  if (lost) {
    notes.push(`The recording was full: the oldest ${countText(lost)} events are lost. ` +
      "Tables and plots are of what is left; psrun --stats counts the whole run.");
  }
  if (sum(rows.map((row) => row.track.dropped))) {
    notes.push(`Slices shorter than ${timeText(data.shortest)} are shown as shares of time, not one by one.`);
  }
  if (several) {
    notes.push(data.joined_by_mpi ? "The ranks' clocks are joined at the end of MPI_Init."
      : "The processes share one clock, as on one machine.");
  }
  if (data.lost_marks) notes.push(`${countText(data.lost_marks)} later marks are not shown.`);
  byId("notes").replaceChildren(...notes.map((note) => element("li", note)));
  const totals = STATES.map((_, s) => sum(rows.map((row) => row.states[s]))), all = sum(totals);
  byId("legend").replaceChildren(...STATES.map(({key, name, more}, s) => {
    const item = element("li", undefined, {title: more}), swatch = element("span", undefined, {class: "swatch"});
    swatch.style.background = `var(--${key})`;
    item.append(swatch, element("span", name), element("span", shareText(totals[s] / all), {class: "share"}));
    return item;
  }));
};

const vpRows = rows.filter((row) => row.isVp);
const makeTables = () => {
  const part = (name, s) => share(name, (p) => p.states[s] / p.capacity, `${STATES[s].name}: ${STATES[s].more}`);
  makeTable("regions-table", [
    placeColumn("source line", (p) => p),
    duration("time", (p) => p.wall, "from beginning to end, all runs of the region"),
    number("runs", (p) => p.regions),
    duration("mean", (p) => p.wall / p.regions),
    {name: "threads", value: (p) => p.threads / p.regions, text: (p) => (p.threads / p.regions).toFixed(1)},
    part("efficiency", 0), part("barrier", 1), part("tasks", 2), part("locks", 3), part("MPI", 4), part("runtime", 5),
  ], data.places.filter((p) => p.regions), 1);

  makeTable("tasks-table", [
    placeColumn("source line", (p) => p),
    number("tasks", (p) => p.tasks),
    duration("work", (p) => p.useful, "of all of them"),
    duration("mean", (p) => p.useful / p.tasks),
    share("below 1 \u00b5s", (p) => p.short / p.tasks, "the part of them that is shorter"),
    {name: "sizes, 1 ns to 34 s", node: (p) => [smallHistogram(p.sizes)]},
  ], data.places.filter((p) => p.tasks), 2);

  makeTable("locks-table", [
    {name: "lock", isText: true, value: (lock) => lock.name, text: (lock) => lock.name},
    placeColumn("in the region", (lock) => data.places[lock.region], (lock) => lock.elsewhere ? " and others" : ""),
    number("waits", (lock) => lock.waits),
    duration("waited", (lock) => lock.ns, "all threads"),
    duration("mean", (lock) => lock.ns / lock.waits),
    duration("longest", (lock) => lock.longest),
  ], data.locks, 3);
  if (data.num_locks > data.locks.length) {
    byId("locks-table").append(element("p", `The ${data.locks.length} with the longest waits of ${data.num_locks}.`));
  }

  const ofState = ({brief, name, more}, s) =>
    share(brief, (row) => row.states[s] / sum(row.states), `${name}: ${more}`);
  makeTable("vps-table", [
    {name: "vp", isText: true, value: rowName, text: rowName},
    ...STATES.map(ofState),
    number("steals", (row) => row.track.steals, "work taken from other vps"),
    number("parks", (row) => row.track.parks, "times that the vp fell asleep"),
    number("stalls", (row) => row.track.stalls, "long times without a scheduling point, while others waited"),
  ], vpRows, 0);
};

const smallHistogram = (sizes) => {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
  const most = Math.max(1, ...sizes);
  for (const [key, value] of Object.entries({width: 4 * sizes.length, height: 18, "aria-hidden": "true"})) {
    svg.setAttribute(key, value);
  }
  sizes.forEach((count, i) => {
    const bar = document.createElementNS(space, "rect"), tall = count ? Math.max(1.5, 18 * count / most) : 0.5;
    for (const [key, value] of Object.entries({x: 4 * i, y: 18 - tall, width: 3, height: tall})) {
      bar.setAttribute(key, value);
    }
    bar.style.fill = count ? "var(--useful)" : "var(--line)";
    svg.append(bar);
  });
  return svg;
};

let plots = [];
const makeVpsPlot = () => {
  byId("vps-plot-box").style.height = `${Math.min(900, 60 + 24 * vpRows.length)}px`;
  return new Chart(byId("vps-plot"), {
    type: "bar",
    data: {
      labels: vpRows.map(rowName),
      datasets: STATES.map(({key, name}, s) => ({
        label: name, backgroundColor: colours[key], barPercentage: 0.9, categoryPercentage: 0.95,
        data: vpRows.map((row) => 100 * row.states[s] / Math.max(1, sum(row.states))),
      })),
    },
    options: {
      indexAxis: "y",
      scales: {
        x: {stacked: true, max: 100, ticks: {callback: (value) => `${value} %`}},
        y: {stacked: true, grid: {display: false}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: ({dataset, raw}) => `${dataset.label}: ${raw.toFixed(1)} %`}},
      },
    },
  });
};

const makeTasksPlot = () => {
  const places = data.places.filter((p) => p.tasks), choice = byId("tasks-choice");
  const shown = choice.value === "all" ? places : [places[Number(choice.value)]];
  const sizes = shown[0].sizes.map((_, n) => sum(shown.map((p) => p.sizes[n])));
  const first = Math.max(0, sizes.findIndex((count) => count > 0) - 1);
  const last = Math.min(sizes.length, sizes.findLastIndex((count) => count > 0) + 2);
  const slots = sizes.map((_, n) => n).slice(first, last);
  return new Chart(byId("tasks-plot"), {
    type: "bar",
    data: {
      labels: slots.map((n) => timeText(2 ** n)),
      datasets: [{
        label: "tasks", data: slots.map((n) => sizes[n]), barPercentage: 1, categoryPercentage: 0.92,
        backgroundColor: slots.map((n) => colours[2 ** n < 1000 ? "locks" : "useful"]),
      }],
    },
    options: {
      scales: {
        x: {title: {display: true, text: "size, from here to twice as much"}, grid: {display: false}},
        y: {title: {display: true, text: "tasks"}, beginAtZero: true, ticks: {precision: 0}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {
          title: ([{dataIndex}]) => `${timeText(2 ** slots[dataIndex])} to ${timeText(2 ** (slots[dataIndex] + 1))}`,
          label: ({raw}) => `${countText(raw)} tasks`,
        }},
      },
    },
  });
};

const makePlots = () => {
  for (const plot of plots) plot.destroy();
  Object.assign(Chart.defaults, {
    color: colours.text, borderColor: colours.grid, animation: false, maintainAspectRatio: false,
  });
  Chart.defaults.font.family = 'system-ui, "DejaVu Sans", sans-serif';
  plots = [makeVpsPlot(), ...(byId("tasks-plot-box").hidden ? [] : [makeTasksPlot()])];
};

const makeChoice = () => {
  const places = data.places.filter((p) => p.tasks), choice = byId("tasks-choice");
  choice.append(new Option("all tasks", "all"), ...places.map((p, i) => new Option(p.label, String(i))));
  choice.addEventListener("change", makePlots);
  byId("tasks-plot-box").hidden = choice.parentElement.hidden = places.length === 0;
};

// Draws at once: while a page is printed, no animation frame comes.
const refresh = () => {
  takeColours();
  place();
  drawNow();
  makePlots();
};
takeColours();
makeHead();
makeTables();
makeChoice();
refresh();
let widthSeen = byId("timeline").clientWidth;
window.addEventListener("resize", () => {
  if (byId("timeline").clientWidth === widthSeen) return;
  widthSeen = byId("timeline").clientWidth;
  place();
  draw();
});
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", refresh);
