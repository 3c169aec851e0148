import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrustRoot } from "../../../../api/gen/registry.ts";
import { contentOf, contentWords, partWord } from "./root-content.ts";
import { rootState } from "./root-words.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const tuf = { url: "https://tuf.example.com", root: "{}" };

const word = (fields: Partial<TrustRoot>): string =>
  rootState({ uid: "g/r", name: "own", trustedRoot: "", state: "TRUST_ROOT_STATE_READY", message: "", ...fields }, NOW)
    .word;

function pasted(end?: string): string {
  const validFor = { start: "2026-01-01T00:00:00Z", ...(end !== undefined && { end }) };
  return JSON.stringify({
    certificateAuthorities: [{ subject: { organization: "acme", commonName: "fulcio" }, validFor }],
    tlogs: [{ baseUrl: "https://rekor.example.com", publicKey: { validFor } }],
  });
}

test("only what is fetched, and as new as it should be, is ready", () => {
  assert.equal(word({ tuf, refreshTime: "2026-11-26T13:00:00Z" }), "Ready");
  assert.equal(word({ tuf, refreshTime: "2026-11-20T12:00:00Z" }), "Not refreshed");
  assert.equal(word({ tuf: { ...tuf, interval: "3600s" }, refreshTime: "2026-11-27T09:00:00Z" }), "Not refreshed");
  assert.equal(word({ tuf }), "Not known");
  assert.equal(word({ tuf, state: "TRUST_ROOT_STATE_WAITING" }), "Not fetched");
  assert.equal(word({ tuf, state: "TRUST_ROOT_STATE_FAILED" }), "Failed");
  assert.equal(word({ tuf, state: "TRUST_ROOT_STATE_EXPIRED" }), "Expired");
  assert.equal(word({ tuf, state: "TRUST_ROOT_STATE_TOO_FEW" }), "Names too few");
  assert.equal(word({ tuf, state: "TRUST_ROOT_STATE_UNSPECIFIED" }), "Not known");
});

test("a root that was pasted is ready as long as one of its authorities counts", () => {
  assert.equal(word({ trustedRoot: pasted() }), "Ready");
  assert.equal(word({ trustedRoot: pasted("2026-12-01T00:00:00Z") }), "Ready");
  assert.equal(word({ trustedRoot: pasted("2026-11-01T00:00:00Z") }), "Not valid now");
  assert.equal(word({ trustedRoot: "not JSON" }), "Not known");
  assert.equal(word({ trustedRoot: "null" }), "Not known");
});

test("a message of the mirror stands before what it means", () => {
  const { detail } = rootState(
    { uid: "", name: "", trustedRoot: "", tuf, state: "TRUST_ROOT_STATE_FAILED", message: "timestamp.json: 503" },
    NOW,
  );
  assert.match(detail, /^timestamp\.json: 503\. What was fetched before counts/);
});

test("what a trusted root names has a name and its times each", () => {
  const parts = contentOf(pasted("2026-11-01T00:00:00Z")) ?? [];
  assert.deepEqual(
    parts.map(({ kind, name }) => [kind, name]),
    [
      ["Certificate authority", "fulcio"],
      ["Transparency log", "https://rekor.example.com"],
    ],
  );
  assert.equal(contentWords(parts), "fulcio and 1 more");
  const [first] = parts;
  assert.ok(first !== undefined);
  assert.equal(partWord(first, NOW)[0], "Ended");
  assert.equal(partWord({ ...first, end: undefined }, NOW)[0], "No end stated");
  assert.equal(partWord({ ...first, end: "2027-01-01T00:00:00Z" }, NOW)[0], "Valid");
  assert.equal(partWord({ ...first, end: undefined, start: "2027-01-01T00:00:00Z" }, NOW)[0], "Not yet");
  assert.deepEqual(contentOf('{"certificateAuthorities": [null, 1, {"subject": "x"}]}'), [
    { kind: "Certificate authority", name: "no name", start: undefined, end: undefined },
  ]);
});
