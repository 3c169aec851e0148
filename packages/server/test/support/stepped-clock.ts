// Loaded into a process before its program (`--import`): shifts its time of day by the milliseconds that the file of
// STEPPED_CLOCK_FILE holds, as when an operator or a time service sets the clock. The monotonic clock goes on, as the
// system's does.
import { readFileSync } from "node:fs";

const FILE = process.env["STEPPED_CLOCK_FILE"] ?? "";
const READ_EVERY_MS = 5;
const SystemDate = Date;
let offsetMs = 0;
let readMs = -Infinity;

function nowMs(): number {
  if (performance.now() - readMs > READ_EVERY_MS) {
    readMs = performance.now();
    offsetMs = Number(readFileSync(FILE, "utf8"));
  }
  return SystemDate.now() + offsetMs;
}

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [nowMs()] : values, newTarget) as object,
  get: (target, name, receiver): unknown => (name === "now" ? nowMs : Reflect.get(target, name, receiver)),
});
