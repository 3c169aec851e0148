import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, fromJsonString, toJson } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  ActorSchema,
  CatalogTier,
  ClaimMatchSchema,
  GetSizeResponseSchema,
  GroupSchema,
  IdentitySchema,
  ListReposRequestSchema,
  ListReposResponseSchema,
  RegistryPullSchema,
  RepoSchema,
  RoleBindingSchema,
  UIDPFilterSchema,
} from "@moorage/api";
import fc from "fast-check";
import { arbitraryMessage, withoutFields } from "./arbitrary.test.ts";
import { isInputOnly } from "./fields.ts";
import { type JsonForm, jsonWriter } from "./write.ts";

test("every plain field is printed; unset messages, times and oneof members are not", () => {
  const repo = create(RepoSchema, { uid: "u", catalogTier: CatalogTier.FIPS });
  assert.deepEqual(JSON.parse(jsonWriter(RepoSchema)(repo)), {
    uid: "u",
    name: "",
    description: "",
    catalogTier: "CATALOG_TIER_FIPS",
    bundles: [],
    readme: "",
    aliases: [],
    activeTags: [],
  });
  const identity: unknown = JSON.parse(jsonWriter(IdentitySchema)(create(IdentitySchema)));
  assert.deepEqual(identity, {
    uid: "",
    name: "",
    description: "",
    email: "",
    emailUnverified: "",
    groupsLeftOut: "",
    company: "",
    identityProvider: "",
    uncounted: false,
  });
  assert.equal(jsonWriter(ListReposRequestSchema)(create(ListReposRequestSchema)).includes("name"), false);
});

test("a list response has all its fields, and the total is a string", () => {
  const empty = create(ListReposResponseSchema, { totalCount: 0n });
  assert.equal(
    jsonWriter(ListReposResponseSchema)(empty),
    '{"repos":[],"nextPageToken":"","totalCount":"0","skipped":0}',
  );
});

test("times have three decimals and end in Z", () => {
  const write = jsonWriter(RepoSchema);
  const printed = (seconds: bigint, nanos: number): unknown => {
    const repo = create(RepoSchema, { createTime: create(TimestampSchema, { seconds, nanos }) });
    return (JSON.parse(write(repo)) as { createTime: unknown }).createTime;
  };
  for (let day = -800; day < 800; day++) {
    const timeMs = Date.UTC(2024, 1, 29) + day * 86_399_987;
    assert.equal(
      printed(BigInt(Math.floor(timeMs / 1000)), (timeMs - Math.floor(timeMs / 1000) * 1000) * 1_000_000),
      new Date(timeMs).toISOString(),
    );
  }
  assert.equal(printed(-62_135_596_800n, 0), "0001-01-01T00:00:00.000Z");
  assert.equal(printed(1_700_000_000n, 0), "2023-11-14T22:13:20.000Z");
  assert.equal(printed(1_700_000_000n, 123_999_999), "2023-11-14T22:13:20.123Z");
  assert.equal(printed(-1n, 5_000_000), "1969-12-31T23:59:59.005Z");
  assert.equal(printed(2n ** 62n, 0), "9999-12-31T23:59:59.999Z");
});

test("input-only fields are never printed", () => {
  assert.equal(
    jsonWriter(RoleBindingSchema)(create(RoleBindingSchema, { uid: "u", identityUid: "secret", roleUid: "secret" })),
    '{"uid":"u"}',
  );
});

test("oneof members, maps, 64-bit numbers and unknown enum numbers are written", () => {
  const value = create(ClaimMatchSchema, { iss: { case: "issuer", value: "" }, claims: { 'a"': "\n" } });
  const identity = create(IdentitySchema, { relationship: { case: "claimMatch", value } });
  assert.deepEqual(JSON.parse(jsonWriter(IdentitySchema)(identity)).claimMatch, {
    issuer: "",
    claims: { 'a"': "\n" },
    claimPatterns: {},
  });
  assert.equal(
    jsonWriter(GetSizeResponseSchema)(create(GetSizeResponseSchema, { size: 2n ** 60n })),
    '{"size":"1152921504606846976","architecture":""}',
  );
  assert.equal(
    JSON.parse(jsonWriter(RepoSchema)(create(RepoSchema, { catalogTier: 99 as CatalogTier }))).catalogTier,
    99,
  );
});

test("durations have the form of ProtoJSON", () => {
  const write = jsonWriter(DurationSchema);
  assert.equal(write(create(DurationSchema, { seconds: 3600n })), '"3600s"');
  assert.equal(write(create(DurationSchema, { seconds: 0n, nanos: -500_000_000 })), '"-0.500s"');
});

test("a Struct is written as the JSON object it holds, and fields have the JSON names of the contract", () => {
  const act = { iss: "https://issuer.example.com", groups: ["a", { deep: [null, 1.5, true] }] };
  assert.equal(
    jsonWriter(ActorSchema)(create(ActorSchema, { subject: "u", act })),
    `{"subject":"u","act":${JSON.stringify(act)}}`,
  );
  assert.equal(jsonWriter(ActorSchema)(create(ActorSchema)), '{"subject":""}');
  const pull = jsonWriter(RegistryPullSchema)(
    create(RegistryPullSchema, { repoId: "r", remoteAddress: "a", userAgent: "u" }),
  );
  assert.equal(
    pull,
    '{"repository":"","repo_id":"r","tag":"","digest":"","type":"","when":"","remote_address":"a","user_agent":"u","method":""}',
  );
});

test("a form may leave out fields and write texts in its own way, at any depth", () => {
  const form: JsonForm = { leavesOut: (field) => field.name === "uid", writeText: () => '"…"' };
  const page = create(ListReposResponseSchema, { repos: [{ uid: "u", name: "a", aliases: ["b"] }] });
  const written = JSON.parse(jsonWriter(ListReposResponseSchema, form)(page)) as { repos: Record<string, unknown>[] };
  assert.deepEqual(
    [written.repos[0]?.["uid"], written.repos[0]?.["name"], written.repos[0]?.["aliases"]],
    [undefined, "…", ["…"]],
  );
  assert.equal(jsonWriter(RepoSchema)(create(RepoSchema, { uid: "u" })).startsWith('{"uid":"u"'), true);
});

test("a type without a JSON form fails when its writer is compiled", () => {
  assert.throws(() => jsonWriter(AnySchema), /google\.protobuf\.Any/);
});

test("property: another implementation reads the written JSON with the same meaning", () => {
  for (const desc of [
    RepoSchema,
    IdentitySchema,
    UIDPFilterSchema,
    GroupSchema,
    ListReposResponseSchema,
    ActorSchema,
  ] as DescMessage[]) {
    fc.assert(
      fc.property(arbitraryMessage(desc), (message) => {
        assert.deepEqual(
          toJson(desc, fromJsonString(desc, jsonWriter(desc)(message))),
          toJson(desc, withoutFields(desc, message, isInputOnly)),
        );
      }),
      { numRuns: 60 },
    );
  }
});
