import assert from "node:assert/strict";
import type { HeavyAnswer, HeavyInput, HeavyRequest, HeavyWorld } from "./input.ts";

/**
 * How many pings, one after another, must be answered before what is heavy. A server that does the work in few long
 * steps answers as many as it has steps.
 */
const PINGS = 50;

/**
 * Sends the request `times` times side by side, and pings of another organization one after another meanwhile. Fails
 * unless enough of them were answered before the first answer to a request began. Returns the answers.
 */
export async function assertOthersServed(
  world: HeavyWorld,
  { title, statuses, pings: least = PINGS }: Pick<HeavyInput, "title" | "statuses" | "pings">,
  request: HeavyRequest,
  times = 1,
): Promise<HeavyAnswer[]> {
  // The connection of the pings is open before.
  await world.ping();
  let isAnswered = false;
  const mark = (): void => void (isAnswered = true);
  const asking = Array.from({ length: times }, () => request(mark).finally(mark));
  const all = Promise.all(asking);
  // What fails meanwhile is seen below.
  all.catch(() => {});
  let pings = 0;
  while (!isAnswered) {
    await world.ping();
    // A ping that was answered in the same moment as the request shows nothing.
    if (!isAnswered) pings += 1;
  }
  const answers = await all;
  for (const { status, text } of answers) assert.ok(statuses.includes(status), `${title}: ${status} ${text}`);
  assert.ok(pings >= least, `${title}: ${pings} pings of another organization were answered meanwhile`);
  return answers;
}
