import assert from "node:assert/strict";
import type { LookupAddress, LookupOptions } from "node:dns";
import { test } from "node:test";
import { createLookups } from "./dns.ts";

const ask = (
  lookups: ReturnType<typeof createLookups>,
  name: string,
  options: LookupOptions = { all: true },
  isFailing = false,
): Promise<string | string[]> =>
  new Promise((resolve) =>
    lookups("acme", () => isFailing)(name, options, (error, found) => {
      resolve(
        error ? error.message : typeof found === "string" ? found : found.map(({ address }: LookupAddress) => address),
      );
    }),
  );

test("names are looked up under the address rules of the guarded fetch", async () => {
  const open = createLookups({ allowPrivateNetwork: true, timeoutMs: 5_000 });
  const all = await ask(open, "localhost");
  assert.ok(Array.isArray(all) && all.length > 0 && all.every((one) => one === "127.0.0.1" || one === "::1"));
  assert.equal(await ask(open, "localhost", { family: 4 }), "127.0.0.1");
  const many = await Promise.all(
    Array.from({ length: 50 }, (_, n) => ask(open, "localhost", { all: true }, n % 2 === 0)),
  );
  assert.deepEqual(
    many,
    Array.from({ length: 50 }, () => all),
  );
  const closed = createLookups({ allowPrivateNetwork: false, timeoutMs: 5_000 });
  for (const isFailing of [false, true])
    assert.equal(await ask(closed, "localhost", { all: true }, isFailing), "the address is not a public one");
});

test("a lookup that waits too long for its start fails", async () => {
  const late = createLookups({ allowPrivateNetwork: true, timeoutMs: -1 });
  assert.equal(await ask(late, "localhost"), "the sink's name could not be resolved in time");
  assert.equal(
    await ask(late, "localhost"),
    "the sink's name could not be resolved in time",
    "the next lookup is a new one",
  );
});
