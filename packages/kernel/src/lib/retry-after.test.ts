import assert from "node:assert/strict";
import { test } from "node:test";
import { httpDateMs, retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2026, 10, 26, 18, 0, 0);
const DAY_MS = 86_400_000;
const wait = (text: string): number | undefined => retryAfterMs(text, NOW, DAY_MS);

test("seconds and the three forms of dates give the same wait, whatever the zone of the machine", () => {
  for (const text of [
    "90",
    " 90 ",
    "Thu, 26 Nov 2026 18:01:30 GMT",
    "Thursday, 26-Nov-26 18:01:30 GMT",
    "Thu Nov 26 18:01:30 2026",
  ])
    assert.equal(wait(text), 90_000, text);
  assert.equal(wait("Sun Nov  8 08:49:37 2026"), 0, "a day of one digit, which has passed");
  assert.equal(wait("Fri, 01 Jan 2100 00:00:00 GMT"), DAY_MS);
  assert.equal(wait("9999999999"), DAY_MS);
  assert.equal(retryAfterMs(["5", "6"], NOW, DAY_MS), 5_000);
});

test("a year of two digits is at most fifty years ahead", () => {
  assert.equal(httpDateMs("Sunday, 06-Nov-94 08:49:37 GMT", NOW), Date.UTC(1994, 10, 6, 8, 49, 37));
  assert.equal(httpDateMs("Friday, 06-Nov-76 08:49:37 GMT", NOW), Date.UTC(2076, 10, 6, 8, 49, 37));
  assert.equal(httpDateMs("Sunday, 06-Nov-77 08:49:37 GMT", NOW), Date.UTC(1977, 10, 6, 8, 49, 37));
});

test("other texts are none", () => {
  for (const text of [
    "",
    "soon",
    "-1",
    "1.5",
    "0x10",
    "2026-11-26T18:01:30Z",
    "Thu, 26 Nov 2026 18:01:30",
    "Thu, 26 Nov 2026 18:01:30 CET",
    "Thu, 31 Feb 2026 18:01:30 GMT",
    "Thu, 26 Foo 2026 18:01:30 GMT",
    "Thu, 26 Nov 2026 25:01:30 GMT",
    "99999999999",
  ])
    assert.equal(wait(text), undefined, text);
  assert.equal(retryAfterMs(undefined, NOW, DAY_MS), undefined);
});
