import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignaturePolicy, Signer } from "../../../api/gen/registry.ts";
import { endWords, keyWord, knownBy, policiesOf } from "./key-words.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const KEY = { pem: "", fingerprint: "" };
const signer = (fields: Partial<Signer>): Signer => ({
  uid: "g/s",
  name: "release",
  description: "",
  keys: [KEY],
  requireLog: false,
  times: [],
  ...fields,
});

test("a key signs between its times, until it is revoked", () => {
  const words = [
    KEY,
    { ...KEY, notAfter: "2026-11-27T11:00:00Z" },
    { ...KEY, notBefore: "2026-12-01T00:00:00Z" },
    { ...KEY, notAfter: "2026-11-01T00:00:00Z", revokeTime: "2026-10-01T00:00:00Z" },
    { ...KEY, revokeTime: "2026-12-01T00:00:00Z" },
  ].map((key) => keyWord(key, NOW)[0]);
  assert.deepEqual(words, ["Signs", "Expired", "Not yet", "Revoked", "Signs"]);
});

test("the policies of a signer are those with a rule that names it", () => {
  const policy = (name: string, signers: string[]): SignaturePolicy =>
    ({ name, rules: [{ signers: [] }, { signers }] }) as unknown as SignaturePolicy;
  const found = policiesOf("g/s", [policy("one", ["g/s"]), policy("other", ["g/t"])]);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["one"],
  );
});

test("a signer is known by its keys or its identity", () => {
  assert.equal(knownBy(signer({})), "1 key");
  const keyless = {
    trustRoot: "",
    issuer: "https://ci.example.com",
    subject: "",
    subjectPattern: ".*",
    extensions: {},
  };
  assert.equal(knownBy(signer({ keys: [], keyless })), ".* of https://ci.example.com");
});

test("what the end of a key takes away depends on whose word counts", () => {
  assert.match(endWords(signer({})), /no longer count/);
  assert.match(endWords(signer({ times: ["SIGNATURE_TIME_REGISTRY"] })), /still count/);
});
