import { test } from "node:test";
import type { HeavyInput } from "./input.ts";
import { assertOthersServed } from "./order.ts";
import { startHeavyWorld } from "./world.ts";

const LIMIT = { timeout: 600_000 };
const SIDE_BY_SIDE = 8;

/** A test for each input, on a server of its own: alone, and several side by side. */
export function playHeavy(inputs: readonly HeavyInput[]): void {
  for (const input of inputs)
    test(`${input.title}: others are served meanwhile, also when there are several`, LIMIT, async (t) => {
      const world = await startHeavyWorld((end) => t.after(end), input.env);
      const request = await input.prepare(world);
      await assertOthersServed(world, input, request);
      await assertOthersServed(world, input, request, input.times ?? SIDE_BY_SIDE);
    });
}
