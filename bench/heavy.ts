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

/** What a heavy input does to a server: alone, several of them side by side, and without any. */
export interface HeavyLine {
  title: string;
  idle: Measured;
  one: Measured;
  several: Measured;
}

const IDLE_MS = 3_000;
const EVERY_MS = 20;
const SIDE_BY_SIDE = 8;

/** Measures each heavy input on a server of its own, which somebody else pings meanwhile. */
export async function heavyLines(): Promise<HeavyLine[]> {
  const lines: HeavyLine[] = [];
  let idle: Measured | undefined;
  for (const input of Object.values(HEAVY).flat()) {
    say(`heavy: ${input.title}`);
    const ends: (() => Promise<void>)[] = [];
    try {
      const world = await startHeavyWorld((end) => void ends.push(end), input.env);
      // A server that nobody asks for anything heavy is the same, whatever comes later.
      idle ??= await during(world, () => wait(IDLE_MS));
      lines.push({ title: input.title, idle, ...(await withInput(world, input)) });
    } finally {
      for (const end of ends) await end();
    }
  }
  return lines;
}

async function withInput(
  world: HeavyWorld,
  { title, statuses, times = SIDE_BY_SIDE, prepare }: HeavyInput,
): Promise<Pick<HeavyLine, "one" | "several">> {
  const request = await prepare(world);
  const send = async (count: number): Promise<void> => {
    for (const { status, text } of await Promise.all(Array.from({ length: count }, () => request())))
      if (!statuses.includes(status)) throw new Error(`${title}: ${status} ${text}`);
  };
  return { one: await during(world, () => send(1)), several: await during(world, () => send(times)) };
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
