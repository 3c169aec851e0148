import assert from "node:assert/strict";
import { test } from "node:test";
import { ScalarType } from "@bufbuild/protobuf";
import { bytesOf, durationOf, floatOf, integerOf, timeOf } from "./proto-json.ts";

test("durations of proto JSON and in units are one text", () => {
  for (const [given, expected] of [
    ["90s", "90s"],
    ["1.5s", "1.5s"],
    ["1.500s", "1.5s"],
    ["0.000000001s", "0.000000001s"],
    ["-3.25s", "-3.25s"],
    ["315576000000.999999999s", "315576000000.999999999s"],
    ["0s", "0s"],
    ["90m", "5400s"],
    ["1h30m", "5400s"],
    ["250ms", "0.25s"],
    ["30d", "2592000s"],
    ["soon", undefined],
    ["1", undefined],
    ["1.0000000001s", "1s"],
    ["-1d", undefined],
  ] as const)
    assert.equal(durationOf(given), expected, given);
});

test("whole numbers are read as text or number, within their range and without a loss of digits", () => {
  for (const [scalar, given, expected] of [
    [ScalarType.INT64, "9223372036854775807", "9223372036854775807"],
    [ScalarType.INT64, "-9223372036854775808", "-9223372036854775808"],
    [ScalarType.INT64, "9223372036854775808", undefined],
    [ScalarType.UINT64, "18446744073709551615", "18446744073709551615"],
    [ScalarType.UINT64, "-1", undefined],
    [ScalarType.INT32, "2147483648", undefined],
    [ScalarType.INT32, "007", "7"],
    [ScalarType.INT32, "1.0", "1"],
    [ScalarType.INT32, "1.5", undefined],
    [ScalarType.INT32, "", undefined],
    [ScalarType.INT32, "0x10", undefined],
  ] as const)
    assert.equal(integerOf(scalar, given), expected, given);
});

test("bytes are read in both alphabets of base64, padded or not", () => {
  for (const given of ["-_8=", "-_8", "+/8=", "+/8"]) assert.equal(bytesOf(given), "+/8=", given);
  assert.equal(bytesOf(""), "");
  for (const given of ["a", "a===", "a b", "é", "=="])
    assert.equal(bytesOf(given) ?? "none", given === "==" ? "" : "none", given);
});

test("times of RFC 3339 stay as they are, and numbers have their special names", () => {
  assert.equal(timeOf("2026-01-31T12:00:00.123456789+01:00"), "2026-01-31T12:00:00.123456789+01:00");
  assert.equal(timeOf("2026-01-31"), "2026-01-31T00:00:00.000Z");
  assert.equal(timeOf("tomorrow"), undefined);
  assert.deepEqual(
    [floatOf("1.5"), floatOf("-Infinity"), floatOf("x"), floatOf(" ")],
    [1.5, "-Infinity", undefined, undefined],
  );
});
