"use strict";
// The live page. What the server sends is text and numbers; it gets into the page by
// textContent and attributes only.

const seconds = 120; // of the line
const silence = 5000; // milliseconds without a frame after which the stream counts as lost
const worst = ["open", "forced-open", "half-open", "probe-due", "forced-closed", "disabled", "closed"];

const byId = (id) => document.getElementById(id);
const svg = (name, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};
const element = (name, className, ...children) => {
  const node = document.createElement(name);
  node.className = className;
  node.append(...children);
  return node;
};
const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

let guards = []; // {tile, rates, points, node}
let offset = 0; // of the server's clock against this one
let hidden = { more: 0, broken: 0 };
let lastFrame = 0;
let source = null;

// --- texts

const round = (x) => (x === 0 ? "0" : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
const percent = (x) => (x === null ? "–" : (x * 100).toFixed(x > 0 && x < 0.1 ? 1 : 0) + " %");
const micros = (us) => (us === 0 ? "–" : us < 1000 ? us + " µs" : us < 1e6 ? round(us / 1000) + " ms" : round(us / 1e6) + " s");
const span = (ms) => {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor((s % 86400) / 3600) + " h";
};
const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour12: false });

const timesOf = (tile, now) => {
  const parts = [];
  const forced = tile.state.startsWith("forced") || tile.state === "disabled";
  if (tile.since) parts.push("since " + clock(tile.since) + " (" + span(now - tile.since) + ")");
  if (tile.state === "probe-due") parts.push("its time is over: the next call is a probe");
  else if (tile.until) parts.push("until " + clock(tile.until) + " (in " + span(tile.until - now) + ")");
  if (tile.generation > 1) parts.push("generation " + tile.generation);
  if (tile.rule && tile.state !== "closed") parts.push("rule " + tile.rule);
  if (tile.spared) parts.push("would have refused " + tile.spared);
  if (tile.state === "half-open") parts.push(tile.probes + " out, " + tile.successes + " succeeded");
  if (tile.state === "closed" && tile.failures) parts.push("failures: " + tile.failures);
  if (forced && tile.until && tile.author) parts.push("by " + tile.author + ": " + tile.reason);
  return parts.join(" · ");
};

// --- tiles

const number = (label) => {
  const value = document.createElement("b");
  return { value, node: element("span", "", element("small", "", label), value) };
};

function makeTile(guard) {
  const parts = {
    name: element("span", "name"), badge: element("span", "badge"), sharing: element("span", "sharing"),
    circle: svg("circle", { cx: 50, cy: 50, r: 2 }),
    all: svg("polyline", {}), errors: svg("polyline", { class: "errors" }),
    calls: number("calls/s"), failing: number("errors"), attempts: number("attempts"),
    p50: number("p50"), p90: number("p90"), p99: number("p99"),
    times: element("span", "times"), cause: element("span", "cause"),
  };
  parts.volume = svg("svg", { class: "volume", viewBox: "0 0 100 100", "aria-hidden": "true" });
  parts.volume.append(parts.circle);
  const line = svg("svg", { class: "line", viewBox: "0 0 119 30", preserveAspectRatio: "none", role: "img", "aria-label": "attempts and errors of two minutes" });
  line.append(parts.all, parts.errors);
  const numbers = element("span", "numbers", ...["calls", "failing", "attempts", "p50", "p90", "p99"].map((key) => parts[key].node));
  parts.link = element("a", "tile", parts.name, parts.sharing, parts.badge, element("span", "traffic", parts.volume, numbers), line, parts.times, parts.cause);
  parts.link.href = "guards/" + encodeURIComponent(guard.tile.name);
  guard.parts = parts;
  guard.node = element("li", "", parts.link);
}

function drawTile({ tile, parts }) {
  write(parts.name, tile.name);
  write(parts.badge, tile.state + (tile.observe ? " (only observes)" : ""));
  write(parts.cause, tile.cause ? "last cause: " + tile.cause : "");
  write(parts.sharing, tile.sharing || "");
  parts.sharing.className = "sharing " + (tile.sharing || "");
  parts.link.className = "tile " + tile.state + (tile.observe ? " observes" : "");
}

function drawTraffic({ rates, parts }) {
  const [calls, , errors, attempts, p50, p90, p99] = rates;
  write(parts.calls.value, round(calls));
  write(parts.failing.value, percent(errors));
  write(parts.attempts.value, attempts === null ? "–" : round(attempts));
  write(parts.p50.value, micros(p50));
  write(parts.p90.value, micros(p90));
  write(parts.p99.value, micros(p99));
  // The area grows with the logarithm: 1, 100 and 10 000 calls a second can be told apart.
  parts.circle.setAttribute("r", Math.min(48, 4 + 11 * Math.log10(1 + calls)).toFixed(1));
  parts.volume.classList.toggle("failing", errors !== null && errors >= 0.5);
}

function drawLine({ points, parts }) {
  let top = 1;
  for (let i = 0; i < points.length; i += 2) top = Math.max(top, points[i]);
  const along = (which) => {
    let text = "";
    for (let i = 0; i < points.length; i += 2) text += i / 2 + "," + (29 - (28 * points[i + which]) / top).toFixed(1) + " ";
    return text;
  };
  const some = points.some((n) => n > 0);
  parts.all.setAttribute("points", some ? along(0) : "");
  parts.errors.setAttribute("points", some && points.some((n, i) => i % 2 === 1 && n > 0) ? along(1) : "");
}

function advance(guard, count, fresh) {
  const quiet = guard.quiet;
  guard.quiet = fresh ? 0 : quiet + count;
  if (!fresh && quiet > seconds) return; // the line is empty already
  const added = fresh || new Array(2 * count).fill(0);
  guard.points = guard.points.concat(added).slice(-2 * seconds);
  drawLine(guard);
}

// --- order and filter

const keys = {
  state: (g) => [worst.indexOf(g.tile.state), -(g.rates[2] || 0), -g.rates[0]],
  errors: (g) => [-(g.rates[2] || 0), -g.rates[0]],
  volume: (g) => [-g.rates[0]],
  p99: (g) => [-g.rates[6]],
  since: (g) => [-g.tile.since],
  name: () => [],
};

function arrange() {
  const find = byId("find").value.toLowerCase();
  const state = byId("state").value;
  const counts = {};
  const fleet = {};
  for (const g of guards) {
    const t = g.tile;
    counts[t.state] = (counts[t.state] || 0) + 1;
    if (t.sharing) fleet[t.sharing] = (fleet[t.sharing] || 0) + 1;
    const text = (t.name + " " + (t.cause || "")).toLowerCase();
    g.node.hidden = !text.includes(find) || (state === "not-closed" ? t.state === "closed" : state !== "" && t.state !== state && t.sharing !== state && !(state === "observes" && t.observe));
  }
  const parts = worst.filter((s) => counts[s]).map((s) => counts[s] + " " + s);
  const shares = ["lost", "apart", "shared"].filter((s) => fleet[s]).map((s) => fleet[s] + " " + s);
  if (shares.length) parts.push("in the fleet: " + shares.join(", "));
  if (hidden.more) parts.push(hidden.more + " more not shown, " + hidden.broken + " of them not closed");
  write(byId("summary"), parts.join(" · ") || "no guards yet");
  const list = byId("tiles");
  if (list.contains(document.activeElement)) return; // what somebody is at does not run away
  const key = keys[byId("sort").value];
  const rows = guards.map((g, i) => ({ g, i, key: key(g) }));
  rows.sort((a, b) => {
    for (let i = 0; i < a.key.length; i++) if (a.key[i] !== b.key[i]) return a.key[i] - b.key[i];
    return a.i - b.i;
  });
  rows.forEach(({ g }, i) => {
    if (list.children[i] !== g.node) list.insertBefore(g.node, list.children[i] || null);
  });
}

// --- what happened

function drawNews(items, anew) {
  const list = byId("news");
  if (anew) list.replaceChildren();
  for (const item of items || []) {
    const time = element("time", "", clock(item.at) + " ");
    const row = element("li", item.state, time, element("b", "", item.name + ": " + item.state), " " + item.text);
    if (item.cause) row.append(": ", element("q", "", item.cause));
    list.prepend(row);
  }
  while (list.children.length > 100) list.lastChild.remove();
}

// --- the stream

function receive(frame, full) {
  lastFrame = Date.now();
  offset = frame.now - lastFrame;
  hidden = { more: frame.more || 0, broken: frame.broken || 0 };
  if (full) {
    guards = (frame.guards || []).map((tile) => ({ tile, rates: [0, 0, null, null, 0, 0, 0], points: new Array(2 * seconds).fill(0), quiet: 0 }));
    guards.forEach(makeTile);
    byId("tiles").replaceChildren(...guards.map((g) => g.node));
    guards.forEach(drawTile);
    guards.forEach(drawTraffic);
  }
  for (const [i, tile] of Object.entries(frame.changed || {})) {
    guards[i].tile = tile;
    drawTile(guards[i]);
  }
  for (const [i, rates] of Object.entries(frame.traffic || {})) {
    guards[i].rates = rates;
    drawTraffic(guards[i]);
  }
  guards.forEach((g, i) => advance(g, frame.seconds, (frame.points || {})[i]));
  drawNews(frame.news, full);
  for (const g of guards) write(g.parts.times, timesOf(g.tile, frame.now));
  arrange();
  const live = byId("live");
  live.className = "on";
  write(live, "live");
}

function lost() {
  const live = byId("live");
  live.className = "off";
  write(live, lastFrame ? "not live: what is shown is of " + clock(lastFrame + offset) : "no connection yet");
}

function connect() {
  if (source) source.close();
  source = new EventSource("events");
  source.addEventListener("full", (event) => receive(JSON.parse(event.data), true));
  source.addEventListener("tick", (event) => receive(JSON.parse(event.data), false));
  source.onerror = lost; // it comes back by itself, unless it was refused
}

// A connection can die without a word, and one that was refused is not tried again.
setInterval(() => {
  const silent = Date.now() - lastFrame > silence;
  if (silent) lost();
  if (silent && source.readyState !== EventSource.CONNECTING) connect();
}, silence);

for (const id of ["find", "state", "sort"]) byId(id).addEventListener("input", arrange);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
connect();
