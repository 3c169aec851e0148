import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage } from "@bufbuild/protobuf";
import type { FieldMask, Timestamp } from "@bufbuild/protobuf/wkt";
import {
  BatchCreateRoleBindingsRequestSchema,
  GetRepoRequestSchema,
  ListIdentitiesRequestSchema,
  type ListReposRequest,
  ListReposRequestSchema,
  ListTagsRequestSchema,
  RelationshipType,
  UpdateRepoRequestSchema,
} from "@moorage/api";
import fc from "fast-check";
import type { Fields } from "@moorage/kernel/lib/protojson/fields";
import type { FieldViolation } from "@moorage/kernel/errors";
import { compileQuery } from "./query.ts";

function read(
  desc: DescMessage,
  query: string,
  path: string[] = [],
  body = "",
): { message: Fields; bad: FieldViolation[]; fields: string[] } {
  const message = create(desc) as Fields;
  const bad: FieldViolation[] = [];
  compileQuery(desc, path, body)(query, message, bad);
  return { message, bad, fields: bad.map((violation) => violation.field) };
}

test("parameters are read in snake_case and camelCase, dotted and repeated", () => {
  const snake = "uidp.descendants_of=a%2Fb&page_size=5&order_by=name+desc&uidp.ids=x&uidp.ids=y&uidp.in_root=true";
  const camel = "uidp.descendantsOf=a/b&pageSize=5&orderBy=name%20desc&uidp.ids=x&&uidp.ids=y&uidp.inRoot=true";
  const uidp = { descendantsOf: "a/b", ids: ["x", "y"], inRoot: true };
  for (const query of [snake, camel]) {
    const { message, bad } = read(ListReposRequestSchema, query);
    assert.deepEqual(bad, []);
    assert.deepEqual(message, create(ListReposRequestSchema, { uidp, pageSize: 5, orderBy: "name desc" }));
  }
});

test("an optional parameter is set when it is given empty, and not set when it is not given", () => {
  assert.equal((read(ListReposRequestSchema, "name=").message as ListReposRequest).name, "");
  assert.equal((read(ListReposRequestSchema, "skip=1").message as ListReposRequest).name, undefined);
});

test("times and enumerations are read", () => {
  assert.equal(
    (read(ListTagsRequestSchema, "updatedSince=2024-01-01T00:00:00Z").message["updatedSince"] as Timestamp).seconds,
    1704067200n,
  );
  for (const value of ["RELATIONSHIP_TYPE_STATIC", "2"]) {
    assert.equal(
      read(ListIdentitiesRequestSchema, `relationship_type=${value}`).message["relationshipType"],
      RelationshipType.STATIC,
    );
  }
});

test("all violations are reported together, in snake_case", () => {
  const query =
    "pageSize=abc&skip=99999999999&relationshipType=99&uidp.inRoot=yes&bogus=1&uidp=1&page_token=%ff&%zz=1&uidp.__proto__=1&__proto__=1";
  const { fields } = read(ListIdentitiesRequestSchema, query);
  assert.deepEqual(fields, [
    "page_size",
    "skip",
    "relationship_type",
    "uidp.in_root",
    "bogus",
    "uidp",
    "page_token",
    "%zz",
    "uidp.__proto__",
    "__proto__",
  ]);
});

test("a single parameter may be given only once, in one spelling", () => {
  assert.deepEqual(read(ListReposRequestSchema, "page_size=1&page_size=1").fields, ["page_size"]);
  assert.deepEqual(read(ListReposRequestSchema, "page_size=1&pageSize=2").fields, ["page_size"]);
  assert.deepEqual(read(ListReposRequestSchema, "uidp.children_of=a&uidp.childrenOf=a").fields, ["uidp.children_of"]);
});

test("fields of the path and the body are not taken from the query", () => {
  assert.match(read(GetRepoRequestSchema, "uid=a", ["uid"]).bad[0]?.description ?? "", /in the path/);
  assert.deepEqual(read(UpdateRepoRequestSchema, "repo.name=x&repo.uid=y", ["repo.uid"], "repo").fields, [
    "repo.name",
    "repo.uid",
  ]);
  assert.deepEqual(read(BatchCreateRoleBindingsRequestSchema, "parent=x", [], "*").fields, ["parent"]);
});

test("a mask takes paths in either casing", () => {
  const { message } = read(
    UpdateRepoRequestSchema,
    "updateMask=catalogTier,sync_config.source%20",
    ["repo.uid"],
    "repo",
  );
  assert.deepEqual((message["updateMask"] as FieldMask).paths, ["catalog_tier", "sync_config.source"]);
  assert.deepEqual(read(UpdateRepoRequestSchema, "updateMask=a&update_mask=b", ["repo.uid"], "repo").fields, [
    "updateMask",
  ]);
});

test("a repeated message is given by its fields or as JSON", () => {
  const parents = ({ message }: { message: Fields }): unknown =>
    (message["requests"] as Fields[]).map((request) => request["parent"]);
  assert.deepEqual(parents(read(BatchCreateRoleBindingsRequestSchema, "requests.parent=a")), ["a"]);
  assert.deepEqual(
    parents(
      read(BatchCreateRoleBindingsRequestSchema, `requests=${encodeURIComponent('[{"parent":"a"},{"parent":"b"}]')}`),
    ),
    ["a", "b"],
  );
  assert.deepEqual(read(BatchCreateRoleBindingsRequestSchema, "requests=[").fields, ["requests"]);
  assert.deepEqual(read(BatchCreateRoleBindingsRequestSchema, "requests.parent=a&requests=[]").fields, ["requests"]);
  assert.deepEqual(read(BatchCreateRoleBindingsRequestSchema, "requests=[{}]&requests.parent=a").fields, [
    "requests.parent",
  ]);
});

test("property: every query is read, or its faults are reported", () => {
  const known = fc.constantFrom(
    "page_size",
    "pageSize",
    "skip",
    "uidp",
    "uidp.ids",
    "uidp.in_root",
    "uidp.",
    ".",
    "name",
    "%",
    "__proto__",
  );
  const name = fc.oneof(fc.string(), known);
  const pair = fc
    .tuple(name, fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom("true", "%2F", "%", "+")))
    .map((parts) => parts.join("="));
  fc.assert(
    fc.property(fc.array(fc.oneof(pair, fc.string())), (pairs) => {
      for (const violation of read(ListIdentitiesRequestSchema, pairs.join("&")).bad)
        assert.ok(violation.field !== "" && violation.description !== "");
    }),
  );
});
