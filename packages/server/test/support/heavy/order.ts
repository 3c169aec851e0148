import assert from "node:assert/strict";
import type { HeavyAnswer, HeavyInput, HeavyRequest, HeavyWorld } from "./input.ts";

/**
 * How many pings, one after another, must be answered before what is heavy. A server that does the work in few long
 * steps answers as many as it has steps, on every machine.
 */
const PINGS = 10;

/** How often it is sent again where too few pings were answered: a machine that is busy answers fewer of them, once. */
const ATTEMPTS = 3;

type Limits = Pick<HeavyInput, "title" | "statuses" | "pings" | "writes" | "isLater">;

/**
 * Sends the request `times` times side by side, and pings of another organization one after another meanwhile. Fails
 * unless enough of them were answered before the first answer to a request began, in one of a few attempts. Returns the
 * answers.
 */
export async function assertOthersServed(
  world: HeavyWorld,
  { title, statuses, pings: least = PINGS, writes = false, isLater = false }: Limits,
  request: HeavyRequest,
  times = 1,
): Promise<HeavyAnswer[]> {
  const answered: number[] = [];
  while (answered.length < ATTEMPTS) {
    const { pings, answers } = await pingsMeanwhile(writes ? world.change : world.ping, { request, times, isLater });
    for (const { status, text } of answers) assert.ok(statuses.includes(status), `${title}: ${status} ${text}`);
    if (pings >= least) return answers;
    answered.push(pings);
  }
  assert.fail(`${title}: ${answered.join(", ")} pings of another organization were answered meanwhile`);
}

async function pingsMeanwhile(
  ping: () => Promise<void>,
  { request, times, isLater }: { request: HeavyRequest; times: number; isLater: boolean },
): Promise<{ pings: number; answers: HeavyAnswer[] }> {
  // The connection of the pings is open before.
  await ping();
  let isAnswered = false;
  // Who is sent away because several others are being served already does not end the comparison.
  const began = (status: number): void => void (isAnswered ||= status !== 503);
  let isWorking = !isLater;
  const working = (): void => void (isWorking = true);
  const all = Promise.all(Array.from({ length: times }, () => request(began, working))).finally(() => {
    isAnswered = true;
  });
  // What fails meanwhile is seen by the caller.
  all.catch(() => {});
  let pings = 0;
  while (!isAnswered) {
    const isMeanwhile = isWorking;
    await ping();
    // A ping that was answered in the same moment as the request shows nothing.
    if (isMeanwhile && !isAnswered) pings += 1;
  }
  return { pings, answers: await all };
}
