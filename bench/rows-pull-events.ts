import { setTimeout as wait } from "node:timers/promises";
import { MANIFEST, pushImage } from "./registries.ts";
import type { Moorage } from "./moorage.ts";
import type { Server } from "./processes.ts";
import { type Bench, get, overHttp, type Row, type Section } from "./rows.ts";

const GOAL = 0.95;
const LOOK_MS = 100;
// Pulls are written twice a second, and looked after soon after that: a server that has done next to nothing for longer
// has nothing left to do.
const REST_MS = 900;
const BUSY_SHARE = 0.1;
const LONGEST_MS = 60_000;

/** When the server last did anything, in milliseconds of `performance.now()`, once it does nothing any more. */
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
 * Measures the same; then waits until the server has made events of all that was pulled, so that no other row pays for
 * it.
 */
export function rested(server: Server, measure: Row["measure"]): Row["measure"] {
  return async (turn) => {
    const sample = await measure(turn);
    await restOf(server);
    return sample;
  };
}

/**
 * Pulls on a server that makes events of them, and on one that does not. Both are asked for the same again and again:
 * so least is done beside.
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
            async measure(turn) {
              const beganMs = performance.now();
              const usedUs = emitting.cpuUs();
              const sample = await first.measure(turn);
              const answers = (sample.rate * turn.durationMs) / 1_000;
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
