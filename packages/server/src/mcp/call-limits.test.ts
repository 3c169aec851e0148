import assert from "node:assert/strict";
import { test } from "node:test";
import { Code } from "@moorage/kernel/errors";
import { createCallLimits } from "./call-limits.ts";

const FULL = { code: Code.ResourceExhausted };

test("an identity, and all together, have so many calls under way and no more, until one ends or fails", async () => {
  const limits = createCallLimits({ all: 3, identity: 2 });
  const ends: PromiseWithResolvers<string>[] = [];
  const begin = (identity: string): Promise<string> =>
    limits.run(identity, () => {
      const end = Promise.withResolvers<string>();
      ends.push(end);
      return end.promise;
    });
  const [first, second, third] = [begin("ada"), begin("ada"), begin("bob")];
  await assert.rejects(begin("ada"), FULL);
  await assert.rejects(begin("bob"), FULL);
  ends[0]?.resolve("done");
  assert.equal(await first, "done");
  const fourth = begin("ada");
  await assert.rejects(begin("ada"), FULL);
  ends[2]?.reject(new Error("failed"));
  await assert.rejects(third, /failed/);
  const fifth = begin("bob");
  for (const end of ends) end.resolve("done");
  assert.deepEqual(await Promise.all([second, fourth, fifth]), ["done", "done", "done"]);
});
