import assert from "node:assert/strict";
import { test } from "node:test";
import type { GroupUsage } from "../../api/gen/registry.ts";
import { changeOfDay, endsOf, trafficDays, trendOf } from "./trends.ts";

const row = (period: string, trafficBytes: string | undefined) => ({ period, trafficBytes }) as GroupUsage;

test("a day adds up its values, and is not known where they are not", () => {
  assert.deepEqual(
    trendOf([
      { day: "2026-11-26", values: [1, 2] },
      { day: "2026-11-27", values: undefined },
    ]),
    [3, undefined],
  );
});

test("the traffic of a day is not known where that of one group is not", () => {
  const rows = [row("2026-11-27", "5"), row("2026-11-26", "1"), row("2026-11-27", undefined), row("2026-11-26", "2")];
  assert.deepEqual(trafficDays(rows), [
    { day: "2026-11-26", bytes: 3 },
    { day: "2026-11-27", bytes: undefined },
  ]);
});

test("changes are those of whole days, and of days that are known", () => {
  assert.equal(changeOfDay([100, 106, 3]), "+6%", "today is not over");
  assert.equal(changeOfDay([100, 80, 3]), "−20%");
  assert.equal(changeOfDay([undefined, 80, 3]), undefined);
  assert.equal(changeOfDay([0, 80, 3]), undefined);
  assert.deepEqual(endsOf([undefined, 4, undefined, 9, undefined]), { first: 4, last: 9, days: 2 });
  assert.equal(endsOf([undefined, 4]), undefined);
});
