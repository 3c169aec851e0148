import { setTimeout as wait } from "node:timers/promises";
import type { HeavyInput, HeavyWorld } from "../packages/server/test/support/heavy/input.ts";
import { HEAVY } from "../packages/server/test/support/heavy/inputs.ts";
import { startHeavyWorld } from "../packages/server/test/support/heavy/world.ts";
import { say } from "./say.ts";

/** The longest delay of the server's event loop, in milliseconds, and the most memory of all its processes, in MiB. */
interface Measured {
  delayMs: number;
  peakMib: number;
}

/** What a heavy input does to a server: alone, eight of them side by side, and without any. */
export interface HeavyLine {
  title: string;
  idle: Measured;
  one: Measured;
  eight: Measured;
}

const IDLE_MS = 3_000;
const EVERY_MS = 20;
const SIDE_BY_SIDE = 8;

/** Measures each heavy input on a server of its own, which somebody else pings meanwhile. */
export async function heavyLines(): Promise<HeavyLine[]> {
  const lines: HeavyLine[] = [];
  for (const input of Object.values(HEAVY).flat()) {
    say(`heavy: ${input.title}`);
    const ends: (() => Promise<void>)[] = [];
    try {
      const world = await startHeavyWorld((end) => void ends.push(end), input.env);
      lines.push(await lineOf(world, input));
    } finally {
      for (const end of ends) await end();
    }
  }
  return lines;
}

async function lineOf(world: HeavyWorld, { title, statuses, prepare }: HeavyInput): Promise<HeavyLine> {
  const request = await prepare(world);
  const times = async (count: number): Promise<void> => {
    for (const { status, text } of await Promise.all(Array.from({ length: count }, () => request())))
      if (!statuses.includes(status)) throw new Error(`${title}: ${status} ${text}`);
  };
  return {
    title,
    idle: await during(world, () => wait(IDLE_MS)),
    one: await during(world, () => times(1)),
    eight: await during(world, () => times(SIDE_BY_SIDE)),
  };
}

async function during(world: HeavyWorld, work: () => Promise<void>): Promise<Measured> {
  await world.begin();
  let isOver = false;
  const pinging = (async () => {
    for (; !isOver; await wait(EVERY_MS)) await world.ping();
  })();
  await work().finally(() => {
    isOver = true;
  });
  await pinging;
  return await world.measured();
}
