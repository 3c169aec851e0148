import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, type Verdict } from "./retry.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const RETRY = [5_000, 60_000, 3_600_000];
interface Circumstances {
  step?: number;
  random?: number;
  retryAfter?: string;
  error?: string;
}
const at = (status: number, { step = 0, random = 0.5, retryAfter, error = "" }: Circumstances = {}): Verdict =>
  judge({ status, error, retryAfter }, { step, nowMs: NOW, agreedMs: NOW, retryMs: RETRY, random });

test("only a 2xx answer counts as delivered", () => {
  for (const status of [200, 202, 204, 299]) assert.deepEqual(at(status), { error: "" });
  assert.deepEqual(at(404), { error: "the sink answered 404", nextMs: NOW + 5_000 });
  assert.deepEqual(at(500), { error: "the sink answered 500", nextMs: NOW + 5_000 });
  assert.deepEqual(at(0, { error: "the connection was refused" }), {
    error: "the connection was refused",
    nextMs: NOW + 5_000,
  });
  for (const status of [301, 302, 307, 399]) {
    assert.deepEqual(at(status), {
      error: `the sink answered ${status}: redirects are not followed`,
      nextMs: NOW + 5_000,
    });
  }
});

test("each attempt has its delay, give or take a fifth, and after the last one the delivery is a dead letter", () => {
  assert.deepEqual(
    [0, 1, 2].map((step) => (at(500, { step }).nextMs ?? 0) - NOW),
    RETRY,
  );
  assert.equal(at(500, { random: 0 }).nextMs, NOW + 4_000);
  assert.equal(at(500, { random: 1 }).nextMs, NOW + 6_000);
  assert.deepEqual(at(500, { step: 3 }), { error: "the sink answered 500" });
});

test("410 disables the subscription, and leaves the delivery due for when it is resumed", () => {
  const error = "the sink answered 410: it wants no more events";
  assert.deepEqual(at(410, { step: 3, retryAfter: "60" }), { error, disable: error, nextMs: NOW });
});

test("Retry-After delays the next attempt by a day at most, and never makes it earlier", () => {
  assert.deepEqual(at(503, { retryAfter: "120" }), {
    error: "the sink answered 503",
    nextMs: NOW + 120_000,
    restMs: 120_000,
  });
  assert.equal(at(429, { retryAfter: "1" }).nextMs, NOW + 5_000);
  assert.equal(at(503, { retryAfter: "9999999" }).nextMs, NOW + 86_400_000);
  assert.equal(at(503, { retryAfter: new Date(NOW + 90_000).toUTCString() }).nextMs, NOW + 90_000);
  assert.equal(at(503, { retryAfter: new Date(NOW - 90_000).toUTCString() }).nextMs, NOW + 5_000);
  for (const retryAfter of ["", "-1", "soon", "1.5", "99999999999", "Xyz, no date"]) {
    assert.deepEqual(at(503, { retryAfter }), { error: "the sink answered 503", nextMs: NOW + 5_000 }, retryAfter);
  }
  assert.deepEqual(at(503, { step: 3, retryAfter: "120" }), { error: "the sink answered 503", restMs: 120_000 });
});

test("an attempt that this server interrupted is due immediately, and does not count against the sink", () => {
  const reply = { status: 0, error: "interrupted: the server shuts down", isInterrupted: true };
  assert.deepEqual(judge(reply, { step: 9, nowMs: NOW, agreedMs: NOW, retryMs: RETRY, random: 0.5 }), {
    error: reply.error,
    nextMs: NOW,
  });
});
