import { setTimeout as wait } from "node:timers/promises";
import { MANIFEST, pushImage } from "./registries.ts";
import type { Moorage } from "./moorage.ts";
import type { Server } from "./processes.ts";
import { type Bench, get, overHttp, type Row, type Section } from "./rows.ts";

const GOAL = 0.95;
const LOOK_MS = 100;
// Pulls are written twice a second, and turned into events soon after: a server that was idle for longer than this has
// finished.
const REST_MS = 900;
const BUSY_SHARE = 0.1;
const LONGEST_MS = 60_000;

/** When the server last did anything, in milliseconds of `performance.now()`; returns once it is idle. */
async function restOf({ cpuUs }: Server): Promise<number> {
  const startedMs = performance.now();
  let [busyMs, lastMs, lastUs] = [startedMs, startedMs, cpuUs() ?? 0];
  while (lastMs - busyMs < REST_MS && lastMs - startedMs < LONGEST_MS) {
    await wait(LOOK_MS);
    const [nowMs, usedUs] = [performance.now(), cpuUs() ?? 0];
    if (usedUs - lastUs > (nowMs - lastMs) * 1_000 * BUSY_SHARE) busyMs = nowMs;
    [lastMs, lastUs] = [nowMs, usedUs];
  }
  return busyMs;
}

/**
 * Measures the row, then waits until the server has turned all pulls into events, so that other rows are not affected.
 */
export function rested(server: Server, measure: Row["measure"]): Row["measure"] {
  return async (round) => {
    const sample = await measure(round);
    await restOf(server);
    return sample;
  };
}

/**
 * Pulls from a server that emits events for them, and from one that does not. Both serve the same requests repeatedly,
 * so that other work is small.
 */
export async function pullEventSection(bench: Bench): Promise<Section | undefined> {
  const {
    silent,
    engine,
    servers: [smallest],
  } = bench;
  if (silent === undefined || smallest === undefined) return undefined;
  const rowsOf = async (moorage: Moorage, how: string): Promise<{ title: string; measure: Row["measure"] }[]> => {
    const repository = `${moorage.organization.name}/pulled`;
    const { digest, layer } = await pushImage(moorage, repository, "latest");
    const paths = {
      "manifest by tag": "manifests/latest",
      "manifest by digest": `manifests/${digest}`,
      "4 KiB blob": `blobs/${layer}`,
    };
    return Object.entries(paths).map(([what, path]) => ({
      title: `${what}, ${how}, ${engine}`,
      measure: overHttp(bench, moorage, () => [[get(`/v2/${repository}/${path}`, moorage.authorization, MANIFEST)]]),
    }));
  };
  const without = await rowsOf(silent, "without pull events");
  const emitting = smallest.moorage;
  const withEvents = await rowsOf(emitting, "with pull events");
  const rows: Row[] = withEvents.flatMap(({ title, measure }, at): Row[] => {
    const [alone] = without.slice(at, at + 1);
    if (alone === undefined) return [];
    return [
      { ...alone, unit: "/s" },
      { title, unit: "/s", measure: rested(emitting, measure), against: [{ title: alone.title, goal: GOAL }] },
    ];
  });
  const [first] = withEvents;
  const whole: Row[] =
    first === undefined
      ? []
      : [
          {
            title: `${first.title}, until each is an event`,
            unit: "/s",
            async measure(round) {
              const beganMs = performance.now();
              const usedUs = emitting.cpuUs();
              const sample = await first.measure(round);
              const answers = (sample.rate * round.durationMs) / 1_000;
              const endedMs = await restOf(emitting);
              const afterUs = emitting.cpuUs();
              return {
                ...sample,
                rate: (answers * 1_000) / (endedMs - beganMs),
                ...(usedUs !== undefined &&
                  afterUs !== undefined &&
                  answers > 0 && { cpuUs: (afterUs - usedUs) / answers }),
              };
            },
          },
        ];
  return { title: `pull events, ${engine}`, rows: [...rows, ...whole] };
}
