import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { CreateSubscriptionRequestSchema } from "@moorage/api";
import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { MoorageError } from "@moorage/kernel/errors";
import { createSinkCheck, type SinkCheck, type SinkRules } from "./sink-check.ts";

const closed = { allowPrivateNetwork: false, eventsPrefix: "dev.moorage" };
/** A lookup with this result for any name. */
const lookupOf =
  (error: Error | null): LookupFunction =>
  (_name, _options, done) =>
    setImmediate(() => done(error as NodeJS.ErrnoException | null, ""));
const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** The violations, by field. */
async function faults(check: SinkCheck, sink: string, typePrefixes: string[] = []): Promise<Record<string, string>> {
  try {
    await check(create(CreateSubscriptionRequestSchema, { parent: "p", subscription: { sink, typePrefixes } }));
    return {};
  } catch (error) {
    assert.ok(error instanceof MoorageError, String(error));
    return Object.fromEntries(
      (error.details.fieldViolations ?? []).map(({ field, description }) => [field, description]),
    );
  }
}
const sinkFault = async (rules: Partial<SinkRules>, sink = "https://sink.example.com/"): Promise<string | undefined> =>
  (await faults(createSinkCheck({ ...closed, ...rules }), sink))["sink"];

test("a sink without a public address is rejected, and so is a name that does not exist", async () => {
  const notPublic = "must not lead to an address that is not a public one";
  assert.equal(
    await sinkFault({ lookup: lookupOf(new FetchError("refused", "the address is not a public one")) }),
    notPublic,
  );
  assert.equal(await sinkFault({ lookup: lookupOf(failure("ENOTFOUND")) }), "must have a name that exists");
  assert.equal(
    await sinkFault({ lookup: lookupOf(new FetchError("failed", "the name has no address")) }),
    "must have a name that has an address",
  );
  // An address is not looked up, in whatever form it is written.
  const lookup: LookupFunction = () => assert.fail("an address was looked up");
  for (const host of [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "[2002:7f00:1::]",
    "[2001:db8::1]",
  ]) {
    assert.equal(await sinkFault({ lookup }, `https://${host}/`), notPublic, host);
  }
  assert.equal(await sinkFault({ lookup }, "http://sink.example.com/"), "must be an https URL");
});

test("a sink passes when the lookup fails or times out: it is checked again on sending", async () => {
  assert.equal(await sinkFault({ lookup: lookupOf(null) }), undefined);
  assert.equal(await sinkFault({ lookup: lookupOf(failure("EAI_AGAIN")) }), undefined);
  assert.equal(await sinkFault({ timeoutMs: 20, lookup: () => {} }), undefined);
});

test("if private addresses are allowed, nothing is looked up and http passes", async () => {
  const lookup: LookupFunction = () => assert.fail("a name was looked up");
  for (const sink of ["http://127.0.0.1:8080/", "https://nowhere.invalid/"]) {
    assert.equal(await sinkFault({ allowPrivateNetwork: true, lookup }, sink), undefined);
  }
});

test("all violations are reported together, and an invalid sink is not looked up", async () => {
  const check = createSinkCheck({ ...closed, lookup: lookupOf(failure("ENOTFOUND")) });
  assert.deepEqual(Object.keys(await faults(check, "https://nowhere.invalid/", ["registry."])).toSorted(), [
    "sink",
    "typePrefixes[0]",
  ]);
  const lookup: LookupFunction = () => assert.fail("a name was looked up");
  const lookless = createSinkCheck({ ...closed, lookup });
  assert.deepEqual(await faults(lookless, "https://me:word@sink.example.com/"), {
    sink: "must not hold a user name or password",
  });
});

test("two names are looked up concurrently; a sink that waits longer than the timeout passes", async () => {
  let underWay = 0;
  let most = 0;
  const lookup: LookupFunction = (_name, _options, done) => {
    most = Math.max(most, (underWay += 1));
    void wait(5).then(() => {
      underWay -= 1;
      done(failure("ENOTFOUND"), "");
    });
  };
  const check = createSinkCheck({ ...closed, lookup });
  const reported = await Promise.all(
    Array.from({ length: 10 }, (_, at) => faults(check, `https://sink-${at}.example.com/`)),
  );
  assert.deepEqual([reported.filter((each) => "sink" in each).length, most], [10, 2]);
  const stuck = createSinkCheck({ ...closed, timeoutMs: 20, lookup: () => {} });
  assert.deepEqual(await Promise.all(Array.from({ length: 5 }, () => faults(stuck, "https://sink.example.com/"))), [
    {},
    {},
    {},
    {},
    {},
  ]);
  // A name whose check has timed out is not looked up afterwards.
  const asked: ((error: null, address: string) => void)[] = [];
  const late = createSinkCheck({ ...closed, timeoutMs: 20, lookup: (_name, _options, done) => void asked.push(done) });
  await Promise.all(Array.from({ length: 5 }, () => faults(late, "https://sink.example.com/")));
  for (const done of asked) done(null, "");
  await wait(0);
  assert.equal(asked.length, 2);
});
