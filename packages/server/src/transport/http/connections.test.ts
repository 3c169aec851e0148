import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnectionLimit } from "./connections.ts";

function open(limits: { maxConnections: number; maxPerNetwork: number }, exempt = "") {
  let rejected = 0;
  const take = createConnectionLimit({
    ...limits,
    isExempt: (address) => address === exempt,
    rejected: () => (rejected += 1),
  });
  return {
    rejected: () => rejected,
    take,
    /** How many of so many connections are taken. */
    many: (count: number, remoteAddress: string): number =>
      Array.from({ length: count }, () => take(remoteAddress)).filter((taken) => taken !== undefined).length,
  };
}

test("a network has so many connections, and another one when one of them is closed; an IPv6 /64 is one", () => {
  const port = open({ maxConnections: 1000, maxPerNetwork: 20 });
  const close = port.take("192.0.2.1");
  assert.equal(port.many(30, "::ffff:192.0.2.1"), 19);
  assert.equal(port.rejected(), 11);
  close?.();
  assert.equal(port.many(5, "192.0.2.1"), 1);
  assert.equal(port.many(15, "2001:db8:0:1::1") + port.many(15, "2001:db8:0:1:ffff::2"), 20);
  assert.equal(port.many(15, "2001:db8:0:2::1"), 15);
});

test("the last tenth is for networks with few connections", () => {
  const port = open({ maxConnections: 100, maxPerNetwork: 0 });
  assert.equal(port.many(200, "192.0.2.1"), 90);
  assert.equal(port.many(20, "192.0.2.2"), 8);
  assert.equal(port.many(20, "192.0.2.3"), 2, "no more than there are");
  assert.equal(port.many(1, "192.0.2.4"), 0);
});

test("a trusted proxy has no limit of its own, nor has anybody without one", () => {
  const port = open({ maxConnections: 1000, maxPerNetwork: 20 }, "192.0.2.9");
  assert.equal(port.many(990, "192.0.2.9"), 990);
  assert.equal(open({ maxConnections: 1000, maxPerNetwork: 0 }).many(900, "192.0.2.1"), 900);
});
