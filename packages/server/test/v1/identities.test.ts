import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Identities } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type Item, type V1, v1Of } from "../support/v1/calls.ts";

const { create, delete: remove, list, lookup, update } = Identities.method;

let platform: Platform;
let v1: V1;
let organization: string;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
});
after(() => platform.close());

const ISSUER = "https://issuer.example.com";
const KEYS = JSON.stringify({
  keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
});
const END = "2035-01-01T00:00:00Z";

/** Each way to be assumed, with every field: as v1 has it and as v2 has it. */
const RELATIONSHIPS: Record<string, { one: Item; two: Item }> = {
  "exact claims": {
    one: {
      claimMatch: {
        issuer: ISSUER,
        subject: "s",
        audience: "https://aud.example.com",
        claims: { repository: "acme/web" },
      },
    },
    two: {
      claimMatch: {
        issuer: ISSUER,
        subject: "s",
        audience: "https://aud.example.com",
        claims: { repository: "acme/web" },
        claimPatterns: {},
      },
    },
  },
  "patterns of claims": {
    one: {
      claimMatch: {
        issuerPattern: "https://issuer\\.example\\.com",
        subjectPattern: "s-[0-9]+",
        audiencePattern: "a-[0-9]+",
        claimPatterns: { ref: "refs/heads/.*" },
      },
    },
    two: {
      claimMatch: {
        issuerPattern: "https://issuer\\.example\\.com",
        subjectPattern: "s-[0-9]+",
        audiencePattern: "a-[0-9]+",
        claims: {},
        claimPatterns: { ref: "refs/heads/.*" },
      },
    },
  },
  "static keys": {
    one: {
      static: { issuer: ISSUER, subject: "k", issuerKeys: KEYS, expiration: END, audiences: ["https://a.example.com"] },
    },
    two: {
      staticKeys: {
        issuer: ISSUER,
        subject: "k",
        issuerKeys: KEYS,
        expirationTime: "2035-01-01T00:00:00.000Z",
        audiences: ["https://a.example.com"],
      },
    },
  },
};

for (const [what, awsIdentity] of Object.entries({
  "an AWS role and user": {
    awsAccount: "123456789012",
    arn: "arn:aws:sts::123456789012:assumed-role/ci/session",
    userId: "AROA1234567890:session",
  },
  "patterns of AWS": {
    awsAccount: "123456789012",
    arnPattern: "arn:aws:sts::123456789012:assumed-role/ci/.*",
    userIdPattern: "AROA[0-9]+:.*",
  },
}))
  RELATIONSHIPS[what] = { one: { awsIdentity }, two: { awsIdentity } };

/** Of an identity of v2, what v1 has as well, apart from its times. */
async function ofV2(id: unknown): Promise<Item> {
  const { uid, name, description, claimMatch, staticKeys, awsIdentity } = await platform.ok(
    "GET",
    `/iam/v2/identities/${String(id)}`,
  );
  return {
    id: uid,
    name,
    description,
    ...(claimMatch !== undefined && { claimMatch }),
    ...(staticKeys !== undefined && { staticKeys }),
    ...(awsIdentity !== undefined && { awsIdentity }),
  };
}

for (const [what, { one, two }] of Object.entries(RELATIONSHIPS))
  test(`v2 has what v1 wrote, and v1 what v2 wrote: ${what}`, async () => {
    const own = { name: what.toLowerCase(), description: "one" };
    for (const send of [v1.rest, v1.grpc]) {
      const made = await send(create, { parentId: organization, identity: { ...own, ...one } });
      const { id, createdAt, updatedAt, lastSeen, ...rest } = made;
      assert.deepEqual(rest, { ...own, ...one });
      assert.deepEqual(await ofV2(id), { id, ...own, ...two });
      const { createTime, updateTime } = await platform.ok("GET", `/iam/v2/identities/${String(id)}`);
      assert.deepEqual(
        [createdAt, updatedAt, lastSeen].map((time) => Date.parse(String(time))),
        [createTime, updateTime, createTime].map((time) => Date.parse(time)),
      );
      // As by v2, it was last seen when it was made, until it gets its first token.
      assert.deepEqual(await v1.items(list, { id: id as string }), [{ id, createdAt, updatedAt, lastSeen, ...rest }]);
    }
    const { uid: id } = await platform.ok("POST", `/iam/v2/identities/${organization}`, { ...own, ...two });
    await platform.transact((tx) =>
      tx
        .updateTable("identities")
        .set({ last_seen_time: Date.parse(END) })
        .where("uid", "=", id)
        .execute(),
    );
    const [{ createdAt, updatedAt, ...item } = {}] = await v1.items(list, { id });
    assert.ok(createdAt && updatedAt);
    assert.deepEqual(item, { id, ...own, ...one, lastSeen: END });
  });

test("an update replaces the whole, and ignores what only answers have", async () => {
  const claimMatch = { issuer: ISSUER, subject: "s", claims: { a: "b" } };
  const { uid: id } = await platform.ok("POST", `/iam/v2/identities/${organization}`, {
    name: "whole",
    description: "one",
    claimMatch,
  });
  await platform.transact((tx) =>
    tx.updateTable("identities").set({ company: "Acme", email: "a@example.com" }).where("uid", "=", id).execute(),
  );
  const patterns = { issuer: ISSUER, subjectPattern: "s.*" };
  await v1.rest(update, { id, name: "whole", createdAt: END, lastSeen: END, claimMatch: patterns });
  assert.deepEqual(await ofV2(id), {
    id,
    name: "whole",
    description: "",
    claimMatch: { ...patterns, claims: {}, claimPatterns: {} },
  });
  await v1.grpc(update, { id, name: "whole-2", ...RELATIONSHIPS["static keys"]?.one });
  assert.deepEqual(await ofV2(id), { id, name: "whole-2", description: "", ...RELATIONSHIPS["static keys"]?.two });
  const replaced = await v1.rest(update, { id, name: "whole-2" });
  assert.deepEqual(Object.keys(replaced).toSorted(), ["createdAt", "id", "lastSeen", "name", "updatedAt"]);
  assert.deepEqual(await ofV2(id), { id, name: "whole-2", description: "" });
  const { company, email, lastSeenTime, createTime } = await platform.ok("GET", `/iam/v2/identities/${id}`);
  assert.deepEqual([company, email, lastSeenTime], ["Acme", "a@example.com", createTime]);
});

test("a list has what its filters say, and everything without them", async () => {
  const { uid: above } = await platform.group(organization);
  const { uid: below } = await platform.group(above);
  const [one, two] = [await platform.identity(above), await platform.identity(below)];
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const id of [one, two]) assert.ok(all.includes(id));
  assert.deepEqual(await ids({ id: one }), [one]);
  assert.deepEqual(await ids({ id: `${above}/0000000000000000` }), []);
  assert.deepEqual(await ids({ uidp: { childrenOf: above } }), [one]);
  assert.deepEqual(await ids({ uidp: { descendantsOf: above } }), [one, two].toSorted());
  assert.deepEqual(await ids({ uidp: { ids: [one, two] } }), [one, two].toSorted());
  assert.deepEqual(await ids({ id: two, uidp: { ids: [one] } }), []);
});

test("an issuer's subject is looked up, by whoever may list the identity", async () => {
  const claimMatch = { issuer: ISSUER, subject: "looked up" };
  const { uid: id } = await platform.ok("POST", `/iam/v2/identities/${organization}`, {
    name: "looked up",
    claimMatch,
  });
  const [item] = await v1.items(list, { id });
  assert.ok(item);
  const request = { issuer: ISSUER, subject: "looked up" };
  for (const who of ["owner", "viewer"] as const) assert.deepEqual(await v1.read(lookup, request, who), item);
  assert.deepEqual(await v1.refused(lookup, request, "stranger"), [404]);
  assert.deepEqual(await v1.refused(lookup, request, "none"), [401]);
  assert.deepEqual(await v1.refused(lookup, { ...request, subject: "another" }), [404]);
  assert.deepEqual(await v1.refused(lookup, { issuer: ISSUER }), [400, "subject"]);
  assert.deepEqual(await v1.refused(lookup, { subject: "s" }), [400, "issuer"]);
});

test("an identity is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const id = await platform.identity(organization);
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
    assert.deepEqual(await v1.refused(update, { id, name: "gone" }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const made = (identity: JsonObject) => v1.refused(create, { parentId: organization, identity });
  assert.deepEqual(await made({ name: "No!" }), [400, "name"]);
  assert.deepEqual(await made({ name: "a", claimMatch: { issuer: ISSUER } }), [400, "claimMatch.subject"]);
  assert.deepEqual(await made({ name: "a", static: {} }), [
    400,
    "static.issuer",
    "static.subject",
    "static.issuerKeys",
  ]);
  const push = { issuer: "moorage-push-token", subject: "s", issuerKeys: KEYS, expiration: END };
  assert.deepEqual(await made({ name: "a", static: push }), [400, "static.expiration", "static.audiences"]);
  assert.deepEqual(await made({ name: "a", awsIdentity: { awsAccount: "1", arn: "arn" } }), [
    400,
    "awsIdentity.awsAccount",
  ]);
  assert.deepEqual(await v1.blamedByGrpc(create, { identity: { name: "nowhere" } }), ["parentId"]);
  assert.deepEqual(await v1.blamedByGrpc(update, { name: "nothing" }), ["id"]);
});

test("who may do what", async () => {
  const id = await platform.identity(organization);
  const [item = {}] = await v1.items(list, { id });
  await assertRights(v1, {
    list: [list, { id }],
    item,
    writes: [
      [create, { parentId: organization, identity: { name: "more" } }],
      [update, { id, name: "rights" }],
      [remove, { id }],
    ],
  });
});
