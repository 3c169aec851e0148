import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescMessage, equals, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  BatchCreateRoleBindingsRequestSchema,
  type ClaimMatch,
  GroupSchema,
  type Identity,
  IdentitySchema,
  ListReposResponseSchema,
  type Repo,
  RepoSchema,
  RoleBindingSchema,
  type Role,
  RoleSchema,
  UIDPFilterSchema,
} from "@moorage/api";
import fc from "fast-check";
import { arbitraryMessage, withoutFields } from "./arbitrary.test.ts";
import { type Fields, isInputOnly, isOutputOnly } from "./fields.ts";
import { jsonWriter } from "./write.ts";
import type { FieldViolation } from "../../errors.ts";
import { jsonReader, type ReadOptions } from "./read.ts";
import { selectionOf } from "./field-mask.ts";

function read(
  desc: DescMessage,
  json: unknown,
  options?: ReadOptions,
): { message: Fields | undefined; bad: FieldViolation[]; fields: string[] } {
  const bad: FieldViolation[] = [];
  const message = jsonReader(desc)(json, "", bad, 0, options);
  return { message, bad, fields: bad.map((violation) => violation.field) };
}

test("keys are accepted in camelCase and snake_case, at every depth", () => {
  for (const json of [
    { name: "a", claimMatch: { issuerPattern: "x" } },
    { name: "a", claim_match: { issuer_pattern: "x" } },
  ]) {
    const { message, bad } = read(IdentitySchema, json);
    assert.deepEqual(bad, []);
    const identity = message as Identity;
    assert.equal(identity.name, "a");
    assert.deepEqual((identity.relationship.value as ClaimMatch).iss, { case: "issuerPattern", value: "x" });
  }
});

test("all violations are reported together, each with its path", () => {
  const { fields } = read(IdentitySchema, {
    name: 5,
    description: ["x"],
    bogus: 1,
    claimMatch: { issuer: {}, subject: "s", nope: 1, claims: { a: 1 } },
  });
  assert.deepEqual(fields, [
    "name",
    "description",
    "bogus",
    "claimMatch.issuer",
    "claimMatch.nope",
    "claimMatch.claims.a",
  ]);
  const batch = read(BatchCreateRoleBindingsRequestSchema, {
    requests: [{ parent: "p" }, { parent: 1, roleBinding: { identityUid: true } }, null],
  });
  assert.deepEqual(batch.fields, ["requests[1].parent", "requests[1].roleBinding.identityUid", "requests[2]"]);
});

test("output-only fields are ignored without a check and are not among the present fields", () => {
  const options: ReadOptions = { present: [] };
  const { message, bad } = read(
    RepoSchema,
    { uid: 5, createTime: "never", name: "", description: null, active_tags: [] },
    options,
  );
  assert.deepEqual(bad, []);
  assert.equal((message as Repo).uid, "");
  assert.deepEqual(options.present, ["name", "description", "active_tags"]);
});

test("what is present in nested messages is named leaf by leaf, lists and maps as a whole", () => {
  const present = (json: object): string[] | undefined => {
    const options: ReadOptions = { present: [] };
    assert.deepEqual(read(IdentitySchema, json, options).bad, []);
    return options.present;
  };
  assert.deepEqual(present({ name: "n", claimMatch: { issuer: "", claims: { a: "b" } } }), [
    "name",
    "claim_match.issuer",
    "claim_match.claims",
  ]);
  assert.deepEqual(present({ staticKeys: { audiences: ["a"], expirationTime: "2030-01-01T00:00:00Z" } }), [
    "static_keys.audiences",
    "static_keys.expiration_time",
  ]);
  assert.deepEqual(present({ claimMatch: null }), ["claim_match"]);
  assert.deepEqual(present({ claimMatch: {} }), ["claim_match."]);
});

test("a field given in both casings and two members of a oneof are violations", () => {
  assert.deepEqual(read(RepoSchema, { catalogTier: 1, catalog_tier: 1 }).fields, ["catalogTier"]);
  assert.deepEqual(read(IdentitySchema, { claimMatch: {}, staticKeys: {} }).fields, ["staticKeys"]);
  assert.deepEqual(read(IdentitySchema, { claimMatch: { subject: "a", subjectPattern: "b" } }).fields, [
    "claimMatch.subjectPattern",
  ]);
  assert.deepEqual(read(IdentitySchema, { claimMatch: null, staticKeys: {} }).fields, []);
});

test("names with a meaning in JavaScript are read like any other field", () => {
  const claims = '{"__proto__": "x", "constructor": "y"}';
  const json: unknown = JSON.parse(
    `{"__proto__": {"polluted": 1}, "constructor": 1, "toString": 2, "claimMatch": {"claims": ${claims}}}`,
  );
  const { message, fields } = read(IdentitySchema, json);
  assert.deepEqual(fields, ["__proto__", "constructor", "toString", "claimMatch.claims.__proto__"]);
  assert.deepEqual(((message as Identity).relationship.value as ClaimMatch).claims, { constructor: "y" });
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

test("capabilities are read by their dotted names too", () => {
  const { message, bad } = read(RoleSchema, {
    capabilities: ["repo.list", "groups.list", "audit.list", "CAP_TAG_LIST"],
  });
  assert.deepEqual([(message as Role).capabilities, bad], [[1605, 103, 9001, 1613], []]);
  for (const wrong of ["Repo.list", "repo", "cap.repo.list", "", "toString"])
    assert.equal(read(RoleSchema, { capabilities: [wrong] }).bad.length, 1, wrong);
});

test("numbers, enumerations and times are checked", () => {
  const limits = (value: unknown): FieldViolation[] => read(ListReposResponseSchema, { totalCount: value }).bad;
  assert.equal(
    (read(ListReposResponseSchema, { totalCount: "9223372036854775807", skipped: 7 }).message as Fields)["totalCount"],
    9223372036854775807n,
  );
  assert.deepEqual(limits(12), []);
  for (const wrong of ["9223372036854775808", 2 ** 60, 1.5, "", "01", "1e3", true, {}])
    assert.equal(limits(wrong)[0]?.field, "totalCount", String(wrong));
  assert.deepEqual(read(RepoSchema, { catalogTier: "CATALOG_TIER_FIPS" }).bad, []);
  for (const wrong of ["TIER_FIPS", "fips", "toString", 99, 1.5])
    assert.equal(read(RepoSchema, { catalogTier: wrong }).bad.length, 1, String(wrong));
  assert.deepEqual(read(RepoSchema, { catalogTier: null }).bad, []);
  assert.deepEqual(read(RoleSchema, { capabilities: ["CAP_TAG_LIST", 101, "NO_SUCH"] }).fields, ["capabilities[2]"]);
  const time = (value: unknown): FieldViolation[] =>
    read(IdentitySchema, { staticKeys: { expirationTime: value } }).bad;
  for (const right of [
    "2024-02-29T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "2024-01-01t10:00:00.5+02:00",
  ]) {
    assert.deepEqual(time(right), [], right);
  }
  const noTimes = [
    "2023-02-29T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:00:60Z",
    "2024-01-01T00:00:00+01:60",
  ];
  for (const wrong of [...noTimes, "2024-01-01", "0001-01-01T00:00:00+01:00", 5, {}]) {
    assert.equal(time(wrong)[0]?.field, "staticKeys.expirationTime", String(wrong));
  }
});

test("names of enumeration values are read without their type's prefix, and written with it", () => {
  for (const desc of [RepoSchema, GroupSchema] as DescMessage[]) {
    for (const field of desc.fields.filter((each) => each.enum !== undefined && !isOutputOnly(each))) {
      for (const { name, number } of field.enum?.values ?? []) {
        const prefix = `${(field.enum?.name ?? "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}_`;
        assert.ok(name.startsWith(prefix), name);
        const { message, bad } = read(desc, { [field.name]: name.slice(prefix.length) });
        assert.deepEqual([bad, (message as Fields)[field.localName]], [[], number], name);
        assert.ok(jsonWriter(desc)(message as Fields).includes(`"${field.jsonName}":"${name}"`), name);
      }
    }
  }
  assert.match(read(GroupSchema, { kind: "TEST" }).bad[0]?.description ?? "", /one of ORG_KIND_UNSPECIFIED, /);
});

test("text that is not valid Unicode is rejected", () => {
  assert.deepEqual(read(RepoSchema, { name: "\ud800" }).fields, ["name"]);
});

test("the depth of nesting and the number of reported violations are limited", () => {
  assert.equal(read(RepoSchema, { bundles: Array.from({ length: 5000 }, () => 1) }).bad.length, 100);
  assert.equal(jsonReader(RepoSchema)({}, "", [], 33), undefined);
});

test("with a selection, nothing else is read: unknown keys and wrong types are no violations", () => {
  const json = {
    name: 5,
    bogus: 1,
    description: "d",
    claimMatch: { issuer: 5, subject: "s", nope: 1 },
    staticKeys: {},
  };
  const { message, bad } = read(IdentitySchema, json, {
    selection: selectionOf(["description", "claim_match.subject", "no_such"]),
  });
  assert.deepEqual(bad, []);
  const identity = message as Identity;
  assert.deepEqual(
    [identity.name, identity.description, (identity.relationship.value as ClaimMatch).sub.value],
    ["", "d", "s"],
  );
});

const TYPES: DescMessage[] = [
  RepoSchema,
  IdentitySchema,
  RoleBindingSchema,
  RoleSchema,
  GroupSchema,
  UIDPFilterSchema,
  BatchCreateRoleBindingsRequestSchema,
];

test("property: JSON of another implementation is read with the same meaning, in either casing, except output-only fields", () => {
  for (const desc of TYPES) {
    fc.assert(
      fc.property(arbitraryMessage(desc), fc.boolean(), (message, useProtoFieldName) => {
        const { message: got, bad } = read(desc, toJson(desc, message, { useProtoFieldName }));
        assert.deepEqual(bad, []);
        assert.ok(equals(desc, got as Fields, withoutFields(desc, message, isOutputOnly)));
      }),
      { numRuns: 60 },
    );
  }
});

test("property: what is written is read back, except output-only and input-only fields", () => {
  for (const desc of [RepoSchema, IdentitySchema, UIDPFilterSchema, RoleSchema] as DescMessage[]) {
    fc.assert(
      fc.property(arbitraryMessage(desc), (message) => {
        const { message: got, bad } = read(desc, JSON.parse(jsonWriter(desc)(message)));
        assert.deepEqual(bad, []);
        assert.ok(
          equals(
            desc,
            got as Fields,
            withoutFields(desc, message, (field) => isOutputOnly(field) || isInputOnly(field)),
          ),
        );
      }),
      { numRuns: 60 },
    );
  }
});

test("property: another implementation reads accepted JSON with the same meaning; rejected JSON has named violations", () => {
  for (const desc of TYPES) {
    const names = [
      ...desc.fields.flatMap((field) => [field.name, field.jsonName]),
      "issuer",
      "claims",
      "subjectPattern",
      "requests",
      "__proto__",
      "",
    ];
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.constant("2024-01-01T00:00:00Z"),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (garbage) => {
        const { message, bad } = read(desc, garbage);
        assert.ok(bad.every((violation) => violation.field !== "" && violation.description !== ""));
        assert.ok(message !== undefined || bad.length > 0);
        if (message === undefined || bad.length > 0 || mentionsOutputOnly(garbage)) return;
        assert.ok(equals(desc, message, fromJson(desc, garbage as JsonValue)));
      }),
      { numRuns: 150 },
    );
  }
});

function mentionsOutputOnly(json: unknown): boolean {
  const names = new Set(
    TYPES.flatMap((desc) => desc.fields.filter(isOutputOnly).flatMap((field) => [field.name, field.jsonName])),
  );
  return (
    JSON.stringify(json, (key, value: unknown) => (names.has(key) ? "\u0001found" : value))?.includes("\\u0001found") ??
    false
  );
}
