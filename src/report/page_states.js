// Shared by all parts of the page: the states, times as text, and the data as rows.

// In the order of enum page_state. The last state is the time that the others leave.
const STATES = [
  {key: "useful", brief: "useful", name: "useful work", more: "the program's code in parallel regions and tasks"},
  {key: "barrier", brief: "barrier", name: "waiting at a barrier", more: "explicit, or a region's or loop's end"},
  {key: "tasks", brief: "tasks", name: "waiting for tasks", more: "taskwait, taskgroup, dependences"},
  {key: "locks", brief: "locks", name: "waiting for a lock", more: "locks, critical, ordered, atomic"},
  {key: "mpi", brief: "MPI", name: "waiting for MPI", more: "in a call of MPI"},
  {key: "runtime", brief: "runtime", name: "runtime", more: "beginning and ending regions, other work of the runtime"},
  {key: "parked", brief: "parked", name: "parked", more: "asleep, with nothing to run"},
  {key: "free", brief: "idle", name: "idle, or outside of regions", more: "looking for work, or the program alone"},
];
const FREE = STATES.length - 1;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const byId = (id) => document.getElementById(id);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const element = (name, text, attributes = {}) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

// A time as text, with three digits and a unit.
const timeText = (ns) => {
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]].find(([s]) => Math.abs(ns) >= s) ||
      [1, "ns"];
  const value = ns / size;
  return `${unit === "ns" ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
};
const countText = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const shareText = (share) => !Number.isFinite(share) ? "\u2013" : share === 0 ? "0"
  : share < 0.0005 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`;

let colours = {};
const takeColours = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ["back", "text", "quiet", "line", "grid", "chosen", "accent", ...STATES.map((s) => s.key)];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

const data = JSON.parse(byId("data").textContent);
const start = Math.min(...data.processes.map((p) => p.from));
const processName = (p, i) => p.rank >= 0 ? `rank ${p.rank}` : `${p.name || "process"} ${p.pid || i + 1}`;

// Decodes intervals, three numbers each, into three arrays: begins, ends, paths.
const intervals = (numbers, from) => {
  const n = numbers.length / 3;
  const list = {n, begin: new Float64Array(n), end: new Float64Array(n), path: new Int32Array(n)};
  for (let i = 0, last = from; i < n; i++) {
    list.begin[i] = last + numbers[3 * i];
    last = list.end[i] = list.begin[i] + numbers[3 * i + 1];
    list.path[i] = numbers[3 * i + 2];
  }
  return list;
};

// Decodes the letters of bins into shares from 0 to 1.
const shares = (letters) => Float32Array.from(letters, (letter) => LETTERS.indexOf(letter) / 63);

const rows = data.processes.flatMap((p, number) => p.tracks.map((track) => {
  const from = p.from - start;
  const marks = [];
  for (let i = 0; i < track.marks.length; i += 2) {
    marks.push({time: from + track.marks[i], name: data.names[track.marks[i + 1]][0]});
  }
  const known = sum(track.states);
  const isVp = known > 0 || track.name.startsWith("vp");
  return {
    process: p, number, track, from, marks, isVp, name: track.name,
    leaves: intervals(track.leaves, from), outer: intervals(track.outer, from),
    bins: shares(track.bins), bin: p.bin, binsFrom: from + p.bins_from,
    // A spare vp exists only for a while: time outside its states does not count as its own.
    states: [...track.states, !isVp || track.name.startsWith("spare") ? 0 : Math.max(0, p.length - known)],
  };
}));
const runLength = Math.max(1, ...data.processes.map((p) => p.from - start + p.length));
const several = data.processes.length > 1;
const rowName = (row) => several ? `${processName(row.process, row.number)}, ${row.name}` : row.name;

const nameOfPath = (path) => data.names[data.paths[2 * path + 1]];
const placeText = (place) => {
  if (place < 0) return "";
  const {label, file, function: called} = data.places[place];
  const where = file ? `${file}${label.slice(label.lastIndexOf(":"))}` : label;
  return called ? `${where} in ${called}` : where;
};
// Returns the names of the slices around a slice, from the inside to the outside.
const around = (path) => {
  const names = [];
  for (let p = data.paths[2 * path]; p >= 0; p = data.paths[2 * p]) names.push(nameOfPath(p)[0]);
  return names;
};
