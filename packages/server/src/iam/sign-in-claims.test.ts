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

test("groups are a list of strings or one string, without duplicates; dots in a claim's name have no meaning", () => {
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
