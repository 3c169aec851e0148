import assert from "node:assert/strict";
import { test } from "node:test";
import { detailLines } from "./details.ts";

const STYLE = { terminal: true, colored: false, nowMs: Date.parse("2026-06-01T12:00:00Z") };

test("a resource is a line for each field that has a value, with what is in it indented", () => {
  const item = {
    uid: "0123",
    name: "app",
    description: "",
    catalogTier: "CATALOG_TIER_UNSPECIFIED",
    aliases: ["a", "b"],
    activeTags: [],
    size: "1536",
    verified: false,
    createTime: "2026-06-01T09:00:00Z",
    tagPolicy: {
      immutableTags: ["v*"],
      retention: [
        { tagPattern: "pr-*", keepLast: 3 },
        { tagPattern: "*", keepLast: 10 },
      ],
    },
    readme: "# App\n\nIt \u001b[2Jruns.\n",
  };
  assert.equal(
    detailLines(item, STYLE).join("\n"),
    `uid:        0123
name:       app
aliases:    a, b
size:       1536 (1.5KiB)
verified:   false
createTime: 2026-06-01T09:00:00Z (3h ago)
tagPolicy:
  immutableTags: v*
  retention:
    - tagPattern: pr-*
      keepLast:   3
    - tagPattern: *
      keepLast:   10
readme:
  # App
  
  It ?[2Jruns.`,
  );
});

test("the name of a resource stands behind its uid, and behind no other", () => {
  assert.deepEqual(detailLines({ uid: "01", role: { uid: "02" } }, { ...STYLE, name: "acme/ci" }), [
    "uid: 01 (acme/ci)",
    "role:",
    "  uid: 02",
  ]);
});

test("long lists are a line for each value, and ages are for terminals alone", () => {
  const capabilities = Array.from({ length: 9 }, (_, at) => `CAP_OF_NUMBER_${at}`);
  assert.deepEqual(detailLines({ capabilities, time: "2026-01-01T00:00:00Z" }, { ...STYLE, terminal: false }), [
    "capabilities:",
    ...capabilities.map((name) => `  - ${name}`),
    "time: 2026-01-01T00:00:00Z",
  ]);
});
