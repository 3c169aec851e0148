import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTraceparent } from "./traceparent.ts";

const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];

test("a traceparent contains the trace, the span and whether it is sampled", () => {
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, flags: 1 });
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-00`), { traceId, spanId, flags: 0 });
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-02`), { traceId, spanId, flags: 0 });
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-01-what-comes-later`), { traceId, spanId, flags: 1 });
});

test("a malformed traceparent is ignored", () => {
  const bad = [
    "",
    "00",
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-0g`,
    ` 00-${traceId}-${spanId}-01`,
    `01-${traceId}-${spanId}-01more`,
  ];
  for (const header of bad) assert.equal(parseTraceparent(header), undefined, header);
});
