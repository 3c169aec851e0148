import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import {
  GroupSchema,
  ListGroupsResponseSchema,
  ListReposResponseSchema,
  ListTagsResponseSchema,
  RepoSchema,
  TagSchema,
} from "@moorage/api";
import fc from "fast-check";
import {
  type Cells,
  type Form,
  type Layout,
  layoutOf,
  messageOf,
  type Stored,
  storedPage,
  storedRow,
} from "@moorage/kernel/core/stored-answer";
import { jsonWriter } from "@moorage/kernel/lib/protojson/write";
import { writeStored } from "./stored-json.ts";

// The JSON written from stored rows must be the JSON written from their messages, byte for byte.

const TEXT = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom("", '"\\/\b\f\n\r\t\0\u2028', "\ud83d\ude00", "é"),
);
const TIME_MS = fc.oneof(
  fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
);

const DURATION = fc.integer({ min: 0, max: 1_000_000 }).map((seconds) => `${seconds}s`);

/** JSON of the messages and the map that columns hold. */
const OBJECT: Record<string, fc.Arbitrary<unknown>> = {
  sync_config: fc.option(
    fc.record(
      { source: TEXT, tagPattern: TEXT, interval: DURATION, pullThrough: fc.boolean() },
      { requiredKeys: ["source"] },
    ),
  ),
  tag_policy: fc.option(
    fc.record(
      {
        immutableTags: fc.array(TEXT, { maxLength: 3 }),
        historyRetention: DURATION,
        retention: fc.array(
          fc.record({ tagPattern: TEXT, keepLast: fc.nat(100), keepFor: DURATION }, { requiredKeys: [] }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: [] },
    ),
  ),
  cost_labels: fc.dictionary(
    TEXT.filter((key) => key !== "__proto__"),
    TEXT,
  ),
  resource_limits: fc.dictionary(
    TEXT.filter((key) => key !== "__proto__"),
    fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  ),
};

function cell({ field, form }: { field: DescMessage["fields"][number]; form: Form }): fc.Arbitrary<unknown> {
  if (form === "flag") return fc.constantFrom(0, 1);
  if (form === "long") return fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  if (form === "time") return TIME_MS;
  if (form === "texts") return fc.array(TEXT, { maxLength: 4 }).map((texts) => JSON.stringify(texts));
  if (form === "map" || form === "message")
    return (OBJECT[field.name] ?? fc.constant(null)).map((value) => (value === null ? null : JSON.stringify(value)));
  return field.fieldKind === "enum" ? fc.integer({ min: 0, max: 12 }) : TEXT;
}

function rowOf(layout: Layout): fc.Arbitrary<Cells> {
  // Columns that rows are only sorted by come after those of the layout.
  return fc.tuple(...layout.fields.map(cell), fc.integer(), fc.string());
}

function assertSame(stored: Stored): void {
  const text = writeStored(stored);
  assert.equal(text, jsonWriter(stored.output)(messageOf(stored)));
  JSON.parse(text);
}

for (const [layout, output, field] of [
  [layoutOf(RepoSchema), ListReposResponseSchema, "repos"],
  [layoutOf(RepoSchema, { without: ["readme", "sync_config", "update_time"] }), ListReposResponseSchema, "repos"],
  [layoutOf(TagSchema), ListTagsResponseSchema, "tags"],
  [layoutOf(GroupSchema), ListGroupsResponseSchema, "groups"],
] as [Layout, DescMessage, string][]) {
  test(`${layout.message.typeName}, ${layout.columns.length} columns: a row and pages are written as their messages are`, () => {
    const rest = fc.record({
      nextPageToken: TEXT,
      totalCount: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      skipped: fc.nat(),
    });
    fc.assert(fc.property(rowOf(layout), (cells) => assertSame(storedRow(layout, cells))));
    fc.assert(
      fc.property(fc.array(rowOf(layout), { maxLength: 5 }), rest, (rows, init) => {
        assertSame(storedPage(output, field, create(output, init as MessageInitShape<DescMessage>), layout, rows));
      }),
    );
  });
}

test("a layout with a field that has no stored form throws when it is made", () => {
  assert.throws(() => layoutOf(ListReposResponseSchema), /has no stored form/);
});
