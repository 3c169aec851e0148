import assert from "node:assert/strict";
import test from "node:test";
import { isReservedTag, parseTimedTag } from "./timed-tag.ts";

test("a timed tag has the tag's name and the last millisecond of its second", () => {
  const read = (name: string): string | undefined => {
    const found = parseTimedTag(name);
    return found && `${found.tag} ${new Date(found.endMs).toISOString()}`;
  };
  assert.equal(read("v1--at--20260704T093015Z"), "v1 2026-07-04T09:30:15.999Z");
  assert.equal(read("_a.B-c--at--20240229T235959Z"), "_a.B-c 2024-02-29T23:59:59.999Z");
  assert.equal(read("v1---at--20260704T093015Z"), "v1- 2026-07-04T09:30:15.999Z");
  assert.equal(
    read("v1--at--20260704T093015Z--at--20260704T093016Z"),
    "v1--at--20260704T093015Z 2026-07-04T09:30:16.999Z",
  );
  assert.equal(read("v1--at--00010101T000000Z"), "v1 0001-01-01T00:00:00.999Z");
  assert.equal(read(`${"a".repeat(106)}--at--20260704T093015Z`)?.length, 106 + 25);
});

test("a name with an invalid time or an invalid tag is not a timed tag", () => {
  const times = [
    "20260231T000000Z",
    "20250229T000000Z",
    "20261301T000000Z",
    "20260001T000000Z",
    "20260100T000000Z",
    "20260101T240000Z",
    "20260101T006000Z",
    "20260101T000060Z",
    "20260101T000000",
    "20260101t000000Z",
    "20260101T000000z",
    "20260101T000000Z ",
    "2026-01-01T00:00:00Z",
    "20260101",
    "",
  ];
  for (const time of times) {
    assert.equal(parseTimedTag(`v1--at--${time}`), undefined, time);
    assert.ok(isReservedTag(`v1--at--${time}`));
  }
  for (const tag of ["", ".v1", "-v1", "v/1", "a".repeat(107)])
    assert.equal(parseTimedTag(`${tag}--at--20260704T093015Z`), undefined, tag);
  assert.equal(parseTimedTag("v1-at-20260704T093015Z"), undefined);
  assert.equal(isReservedTag("v1-at-20260704T093015Z"), false);
});
