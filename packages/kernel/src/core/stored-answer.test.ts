import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { GroupSchema, RepoSchema, TagSchema } from "@moorage/api";
import { columnsOf, layoutOf } from "./stored-answer.ts";

// Fields must be read from columns as columnsOf writes them.

const NAMES = ["name", "description"] as const;

test("columns are written in the form in which they are read", () => {
  const layout = layoutOf(RepoSchema, { without: ["sync_config", "deprecation", "create_time", "uid"] });
  const toRow = columnsOf(layout, "repos", [
    ...NAMES,
    "catalog_tier",
    "bundles",
    "readme",
    "aliases",
    "active_tags",
    "tag_policy",
    "product",
    "update_time",
  ]);
  const repo = create(RepoSchema, {
    name: "app",
    description: "An app.",
    catalogTier: 2,
    bundles: ["a", 'b"c'],
    readme: "# App",
    activeTags: ["latest"],
    tagPolicy: { immutableTags: ["v*"] },
    updateTime: { seconds: 1_700_000_000n, nanos: 5_000_000 },
  });
  const row = toRow(repo);
  assert.deepEqual(row, {
    name: "app",
    description: "An app.",
    catalog_tier: 2,
    bundles: '["a","b\\"c"]',
    readme: "# App",
    aliases: "[]",
    active_tags: '["latest"]',
    tag_policy: '{"immutableTags":["v*"]}',
    product: null,
    update_time: 1_700_000_000_005,
  });
  assert.deepEqual(layout.ofRow(row), repo);
});

test("flags are 0 and 1, and a message that is not set is null", () => {
  const toRow = columnsOf(layoutOf(TagSchema), "tags", ["deprecated"]);
  assert.deepEqual(toRow(create(TagSchema, { deprecated: true })), { deprecated: 1 });
  assert.deepEqual(toRow(create(TagSchema)), { deprecated: 0 });
  assert.deepEqual(columnsOf(layoutOf(RepoSchema), "repos", ["tag_policy"])(create(RepoSchema)), { tag_policy: null });
});

test("fieldsOf gives the fields of a row that its message has, and no others", () => {
  const layout = layoutOf(GroupSchema, {
    without: ["status", "resource_limits", "cost_labels", "create_time", "update_time"],
  });
  const row = { uid: "u", name: "acme", description: "", kind: 1, verified: 1, status: 2 };
  assert.deepEqual(layout.fieldsOf(row), { uid: "u", name: "acme", description: "", kind: 1, verified: true });
  assert.deepEqual(layout.ofRow(row), create(GroupSchema, layout.fieldsOf(row)));
});

test("columnsOf throws for a column that the layout lacks", () => {
  const layout = layoutOf(GroupSchema, { without: ["description"] });
  assert.throws(() => columnsOf(layout, "groups", NAMES), /holds no field for groups\.description/);
});
