import assert from "node:assert/strict";
import test from "node:test";
import { readChallenges } from "./challenge.ts";
import { retryAfterMs } from "./errors.ts";

test("challenges are parsed with their parameters, from one header or several", () => {
  const read = (header: string | string[] | undefined) =>
    readChallenges(header).map(({ scheme, parameters }) => [scheme, { ...parameters }]);
  assert.deepEqual(
    read(
      'Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:a/b:pull,push"',
    ),
    [
      [
        "bearer",
        { realm: "https://auth.example.com/token", service: "registry.example.com", scope: "repository:a/b:pull,push" },
      ],
    ],
  );
  assert.deepEqual(read('basic Realm = "a \\"quoted\\" one", BEARER realm=plain , error="x"'), [
    ["basic", { realm: 'a "quoted" one' }],
    ["bearer", { realm: "plain", error: "x" }],
  ]);
  assert.deepEqual(read(["Negotiate", "Basic realm=x"]), [
    ["negotiate", {}],
    ["basic", { realm: "x" }],
  ]);
  for (const header of [undefined, "", "  ,, ", '="x"']) assert.deepEqual(read(header), []);
  assert.deepEqual(
    read('Bearer realm="open'),
    [
      ["bearer", {}],
      ["realm", {}],
    ],
    "an invalid parameter is read as a challenge without parameters",
  );
});

test("Retry-After is parsed in both forms, and bounded", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  assert.equal(retryAfterMs("7", nowMs), 7_000);
  assert.equal(retryAfterMs("Thu, 01 Jan 2026 00:01:30 GMT", nowMs), 90_000);
  assert.equal(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", nowMs), 0);
  assert.equal(retryAfterMs("999999999", nowMs), 24 * 3_600_000);
  for (const header of [undefined, "", "soon", "-1x"]) assert.equal(retryAfterMs(header, nowMs), undefined);
});
