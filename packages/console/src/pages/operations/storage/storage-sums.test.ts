import assert from "node:assert/strict";
import { test } from "node:test";
import type { GroupUsage } from "../../../api/gen/registry.ts";
import { growthOf, storedDays } from "./storage-sums.ts";

const row = (groupUid: string, period: string, bytes?: number, bytesAtLeast = false): GroupUsage => ({
  groupUid,
  name: groupUid,
  period,
  ...(bytes !== undefined && { bytes: String(bytes) }),
  bytesAtLeast,
  incomplete: false,
  costLabels: {},
});

test("days of several groups are summed; what one of them lacks is a lower bound, and what all lack is not known", () => {
  const rows = [
    row("a", "2026-11-01"),
    row("a", "2026-11-02", 10),
    row("a", "2026-11-03", 12),
    row("a", "2026-11-04", 20),
    row("b", "2026-11-01"),
    row("b", "2026-11-02", 5),
    row("b", "2026-11-03"),
    row("b", "2026-11-04", 6),
  ];
  const days = storedDays(rows);
  assert.deepEqual(days, [
    { day: "2026-11-01", bytes: undefined, isPartial: true },
    { day: "2026-11-02", bytes: 15, isPartial: false },
    { day: "2026-11-03", bytes: 12, isPartial: true },
    { day: "2026-11-04", bytes: 26, isPartial: false },
  ]);
  assert.deepEqual(growthOf(days), { bytes: 11, since: "2026-11-02" });
});

test("growth is not known from lower bounds, nor from one day", () => {
  assert.equal(growthOf(storedDays([row("a", "2026-11-01", 1, true), row("a", "2026-11-02", 2)])), undefined);
  assert.equal(growthOf(storedDays([row("a", "2026-11-01", 1), row("a", "2026-11-02", 2)], false)), undefined);
});
