import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseIso8601 } from "./iso8601.ts";

const first = (text: string): string | undefined => {
  const moment = parseIso8601(text);
  return moment && new Date(moment.firstMs).toISOString();
};
const last = (text: string): string | undefined => {
  const moment = parseIso8601(text);
  return moment && new Date(moment.lastMs).toISOString();
};

test("a date-time in every form denotes its instant", () => {
  for (const [text, instant] of [
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02t03:04:05z", "2026-01-02T03:04:05.000Z"],
    ["20260102T030405Z", "2026-01-02T03:04:05.000Z"],
    ["20260102T0304+0100", "2026-01-02T02:04:00.000Z"],
    ["2026-01-02T03Z", "2026-01-02T03:00:00.000Z"],
    ["2026-01-02T03:04:05.678-05:30", "2026-01-02T08:34:05.678Z"],
    ["2026-01-02T03:04:05,5+02", "2026-01-02T01:04:05.500Z"],
    ["2026-01-02T03:04.5Z", "2026-01-02T03:04:30.000Z"],
    ["2026-01-02T03.25", "2026-01-02T03:15:00.000Z"],
    ["2026-01-02T24:00:00Z", "2026-01-03T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2026-W01-5T00:00Z", "2026-01-02T00:00:00.000Z"],
    ["2026W015T000000Z", "2026-01-02T00:00:00.000Z"],
    ["2026-002T12:00Z", "2026-01-02T12:00:00.000Z"],
    ["2026002T120000", "2026-01-02T12:00:00.000Z"],
    ["2026-01-02T03:04:05+0000", "2026-01-02T03:04:05.000Z"],
    ["2020-W53-7T00:00", "2021-01-03T00:00:00.000Z"],
  ] as const) {
    assert.equal(first(text), instant, text);
    assert.equal(last(text), instant, text);
  }
});

test("a date denotes all of its days", () => {
  for (const [text, from, to] of [
    ["2026-01-02", "2026-01-02T00:00:00.000Z", "2026-01-02T23:59:59.999Z"],
    ["20240229", "2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"],
    ["2026-02", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z"],
    ["2026", "2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
    ["2026-W01", "2025-12-29T00:00:00.000Z", "2026-01-04T23:59:59.999Z"],
    ["2024-366", "2024-12-31T00:00:00.000Z", "2024-12-31T23:59:59.999Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z", "0001-01-01T23:59:59.999Z"],
  ] as const) {
    assert.equal(first(text), from, text);
    assert.equal(last(text), to, text);
  }
});

test("fractions finer than a millisecond are rounded inwards", () => {
  assert.equal(first("2026-01-02T00:00:00.0005Z"), "2026-01-02T00:00:00.001Z");
  assert.equal(last("2026-01-02T00:00:00.0005Z"), "2026-01-02T00:00:00.000Z");
  assert.equal(first("2026-01-02T00:00:00.123000000000Z"), "2026-01-02T00:00:00.123Z");
});

test("a text that is not ISO 8601 is rejected", () => {
  for (const text of [
    "",
    "T",
    "now",
    "2026-13-01",
    "2026-00-01",
    "2026-02-29",
    "2026-04-31",
    "2026-01-00",
    "202601",
    "2026-1-2",
    "2026-01-02T",
    "2026-01-02T25:00",
    "2026-01-02T24:00:01Z",
    "2026-01-02T24:00:00.1Z",
    "2026-01-02T23:60",
    "2026-01-02T23:58:60Z",
    "2026-01-02T03:04:05+24:00",
    "2026-01-02T03:04:05+01:60",
    "2026-01-02 03:04:05",
    "20260102T03:04:05",
    "2026-01-02T030405",
    "2026-366",
    "2026-000",
    "2025-W53",
    "2026-W00-1",
    "2026-W01-8",
    "2026-W01-0",
    "2026T00:00",
    "2026-01T00:00",
    "1767312000",
    "2026-01-02T03:04:05.Z",
    "2026-01-02T03:04:05ZZ",
    "2026-01-02Z",
    " 2026-01-02",
    "2026-01-02\n",
    "+2026-01-02",
    "２０２６-01-02",
    `2026-01-02T03:04:05.${"1".repeat(99)}Z`,
  ])
    assert.equal(parseIso8601(text), undefined, JSON.stringify(text));
});

test("property: a printed Date is parsed to the same instant, in any zone and form", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -62_135_596_800_000 + 90_000_000, max: 253_402_300_799_999 - 90_000_000 }),
      fc.integer({ min: -1439, max: 1439 }),
      (timeMs, offsetMinutes) => {
        const local = new Date(timeMs + offsetMinutes * 60_000).toISOString().slice(0, -1);
        const size = Math.abs(offsetMinutes);
        const zone = `${offsetMinutes < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
        for (const text of [`${local}${zone}`, local.replace(/[-:]/g, "") + zone.replace(":", "")]) {
          assert.deepEqual(parseIso8601(text), { firstMs: timeMs, lastMs: timeMs }, text);
        }
      },
    ),
  );
});

test("property: any text is parsed or rejected without an exception", () => {
  const alphabet = fc.string({ unit: fc.constantFrom(..."0123456789-:.,TWZ+ tz"), maxLength: 40 });
  fc.assert(
    fc.property(fc.oneof(alphabet, fc.string()), (text) => {
      const moment = parseIso8601(text);
      if (moment)
        assert.ok(
          Number.isSafeInteger(moment.firstMs) &&
            Number.isSafeInteger(moment.lastMs) &&
            moment.lastMs >= moment.firstMs - 1,
        );
    }),
  );
});
