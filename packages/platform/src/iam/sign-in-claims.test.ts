import assert from "node:assert/strict";
import { test } from "node:test";
import { type Person, personOf, subjectClaim } from "./sign-in-claims.ts";

const PROVIDER = { correlationRule: 0, groupsClaim: "groups" };
const person = (claims: Record<string, unknown>, provider = PROVIDER): Person | undefined =>
  personOf(provider, { sub: "ann", ...claims });

test("the subject is the claim that the correlation rule names, if every database can store it", () => {
  assert.deepEqual(
    [0, 1, 2].map((correlationRule) => subjectClaim({ correlationRule })),
    ["sub", "sub", "oid"],
  );
  assert.equal(person({ oid: "7" }, { ...PROVIDER, correlationRule: 2 })?.subject, "7");
  assert.equal(person({}, { ...PROVIDER, correlationRule: 2 }), undefined);
  for (const sub of [undefined, null, "", 7, true, [], {}, "a".repeat(256), "a\0", "\udc00"])
    assert.equal(person({ sub }), undefined, JSON.stringify(sub));
});

test("groups are a list of strings or one string, without duplicates, of the claim with exactly that name", () => {
  const groups = (value: unknown): string[] | undefined => person({ groups: value })?.groups;
  assert.deepEqual(groups(["a", "b", "a"]), ["a", "b"]);
  assert.deepEqual(groups("a b"), ["a b"]);
  for (const value of [
    undefined,
    null,
    7,
    true,
    {},
    { a: "b" },
    [],
    [[]],
    [{}],
    [null, 7, "", "\0", "\ud800", "g".repeat(257)],
  ]) {
    assert.deepEqual(groups(value), [], JSON.stringify(value));
  }
  assert.deepEqual(person({ "a.b": ["c"], a: { b: ["d"] } }, { ...PROVIDER, groupsClaim: "a.b" })?.groups, ["c"]);
  for (const groupsClaim of ["", "constructor", "__proto__"])
    assert.deepEqual(person({ groups: ["a"] }, { ...PROVIDER, groupsClaim })?.groups, [], groupsClaim);
  assert.equal(groups(Array.from({ length: 20_000 }, (_, at) => `g${at}`))?.length, 5_000);
});

test("a claim's name is a path into objects where no claim has exactly that name", () => {
  const found = (groupsClaim: string, claims: Record<string, unknown>): unknown[] => {
    const { groups, lacksGroups } = person(claims, { ...PROVIDER, groupsClaim }) ?? {};
    return [groups, lacksGroups];
  };
  assert.deepEqual(found("realm_access.roles", { realm_access: { roles: ["a"] } }), [["a"], false]);
  const client = { resource_access: { "my.client": { roles: ["b"] } } };
  assert.deepEqual(found("resource_access.my.client.roles", client), [["b"], false]);
  assert.deepEqual(found("https://example.com/groups", { "https://example.com/groups": ["c"] }), [["c"], false]);
  for (const claims of [{}, { realm_access: ["roles"] }, { realm_access: { roles: undefined } }])
    assert.deepEqual(found("realm_access.roles", claims), [[], true]);
  assert.deepEqual(found("a.constructor.name", { a: {} })[0], []);
  assert.deepEqual(found(Array.from({ length: 100 }, () => "a").join("."), { a: {} })[0], []);
});

test("what of the groups is not there is said", () => {
  const left = (claims: Record<string, unknown>): string | undefined => person(claims)?.groupsLeftOut;
  for (const claims of [
    { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://graph.example.com" } } },
    { hasgroups: true },
    { hasgroups: "true" },
  ])
    assert.match(left(claims) ?? "", /overage/);
  for (const groups of [{ admin: {} }, 7, true]) assert.match(left({ groups }) ?? "", /neither a list nor text/);
  assert.match(left({ groups: ["a", { name: "b" }, 7] }) ?? "", /^2 entries of the claim groups that are not text/);
  assert.match(left({ groups: Array.from({ length: 5_007 }, (_, at) => `g${at}`) }) ?? "", /^7 groups beyond/);
  for (const groups of [["a"], "a", []]) assert.equal(left({ groups }), "");
  assert.equal(person({}, { ...PROVIDER, groupsClaim: "" })?.groupsLeftOut, "");
});

test("an address is verified only by the boolean true, and an invalid address is ignored", () => {
  const address = (claims: object): unknown[] => [person({ ...claims })?.email, person({ ...claims })?.emailVerified];
  assert.deepEqual(address({ email: "ann@example.com", email_verified: true }), ["ann@example.com", true]);
  for (const word of ["true", 1, "yes", {}, [true], null, undefined, false])
    assert.equal(address({ email: "ann@example.com", email_verified: word })[1], false);
  for (const email of ["ann", "@", "a b@example.com", "", 7, ["ann@example.com"], `${"a".repeat(254)}@example.com`])
    assert.equal(address({ email })[0], undefined);
});

test("a person's name is turned into a valid name for an identity", () => {
  const called = [
    { name: "Ann Lee" },
    { name: "Zoë Ångström" },
    { name: "李", preferred_username: "Lee" },
    { email: "ann.lee@example.com" },
    { name: 7 },
    { name: "!!!" },
    { name: "A".repeat(300) },
  ];
  const names = called.map((claims) => person(claims)?.name ?? "");
  assert.deepEqual(names.slice(0, 6), ["ann lee", "zo- -ngstr-m", "lee", "ann.lee", "person", "person"]);
  for (const name of names) assert.match(name, /^[a-z0-9 ._-]{1,255}$/);
});
