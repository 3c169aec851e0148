import assert from "node:assert/strict";
import { test } from "node:test";
import { comparedTags, rowsOfTags } from "./tag-rows.ts";

const tag = (name: string, digest: string, time: string | undefined, deprecated = false) => ({
  uid: `repo/${name}`,
  name,
  digest,
  deprecated,
  updateTime: time && `2026-11-27T${time}Z`,
});
const TAGS = [
  tag("latest", "sha256:b", "12:00:05"),
  tag("2.1", "sha256:b", "12:00:04"),
  tag("2.0", "sha256:a", "11:00:00"),
  tag("stable", "sha256:b", "10:00:00"),
  tag("old", "sha256:b", "12:00:03", true),
  tag("2.1.0", "sha256:b", "12:00:03"),
  tag("unknown", "sha256:b", undefined),
];
const names = (isEach: boolean): string[] =>
  rowsOfTags(TAGS, isEach).map(({ tags }) => tags.map((each) => each.name).join(" "));

test("names that were moved to one digest together share a row; moved at another time or deprecated they do not", () => {
  assert.deepEqual(names(false), ["latest 2.1 2.1.0", "2.0", "stable", "old", "unknown"]);
  assert.deepEqual(
    names(true),
    TAGS.map(({ name }) => name),
  );
});

test("two digests are compared, however many names of them are selected", () => {
  const [latest, other, older] = TAGS;
  assert.ok(latest !== undefined && other !== undefined && older !== undefined);
  assert.deepEqual(
    comparedTags([latest, other, older])?.map(({ name }) => name),
    ["latest", "2.0"],
  );
  assert.equal(comparedTags([latest, other]), undefined, "one digest is the same as itself");
  assert.equal(comparedTags([latest]), undefined);
});
