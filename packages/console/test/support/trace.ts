import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";

const CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline"];
const FRAME_MS = 16;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  args?: { name?: string };
}

/** The durations in milliseconds of the tasks on the main thread of pages while `work` runs, the longest first. */
export async function tasksDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser");
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace: Buffer;
  try {
    await work();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(({ name, pid, tid }) => name === "RunTask" && mains.has(`${pid} ${tid}`))
    .map(({ dur = 0 }) => dur / 1_000)
    .sort((one, other) => other - one);
}

/** Turns the wheel once in the time of a frame, so many times. */
export async function turnWheel(page: Page, times: number, byPx: number): Promise<void> {
  await page.mouse.move(600, 500);
  for (let left = times; left > 0; left--) {
    await page.mouse.wheel(0, byPx);
    await wait(FRAME_MS);
  }
}
