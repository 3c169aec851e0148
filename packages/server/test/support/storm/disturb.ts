import { setTimeout as wait } from "node:timers/promises";
import type { Dice } from "../dice.ts";
import { eventually } from "../eventually.ts";
import type { Replicas } from "../replicas.ts";
import type { Writers } from "./writers.ts";

const DRAINING_PAUSE_MS = 1_500;

/**
 * Kills servers with SIGKILL, one or all together, at moments spread over the writing of the events. Returns the number
 * of kills, after each server has been started again.
 */
export async function killDuring(
  replicas: Replicas,
  writers: Writers,
  { events, kills }: { events: number; kills: number },
  dice: Dice,
): Promise<number> {
  let working = true;
  const end = writers.done.finally(() => {
    working = false;
  });
  end.catch(() => {});
  // Many events take long.
  const limitMs = 180_000 + events * 20;
  let killed = 0;
  for (let number = 0; number < kills; number++) {
    const from = ((number + dice.below(1_000) / 1_000) * events) / kills;
    await eventually(() => !working || writers.events() >= from, { limitMs });
    killed += await killSome(replicas, dice);
  }
  await end;
  return killed;
}

/** Kills servers likewise while pending events are sent and no more are written. */
export async function killAfter(replicas: Replicas, kills: number, dice: Dice): Promise<number> {
  let killed = 0;
  for (let number = 0; number < kills; number++) {
    await wait(dice.below(DRAINING_PAUSE_MS));
    killed += await killSome(replicas, dice);
  }
  return killed;
}

async function killSome(replicas: Replicas, dice: Dice): Promise<number> {
  const victims = dice.chance(0.25) ? [...replicas.servers.keys()] : [dice.below(replicas.servers.length)];
  await Promise.all(victims.map((victim) => replicas.replace(victim)));
  return victims.length;
}
