import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignaturePolicy, SignatureRule } from "../../../api/gen/registry.ts";
import { actionWords, ruleWords, scopeWords } from "./policy-words.ts";

const RULE = { name: "image", signers: ["g/a", "g/b"], threshold: 0, predicateType: "" } as unknown as SignatureRule;
const POLICY = {
  on: ["SIGNATURE_ACTION_PULL", "SIGNATURE_ACTION_COPY"],
  repoPattern: "acme/.*",
  tagPattern: "",
} as unknown as SignaturePolicy;
const names: Readonly<Record<string, string>> = { "g/a": "release", "g/b": "security" };
const nameOf = (uid: string): string => names[uid] ?? uid;

test("a rule says what it asks for, and by whom", () => {
  assert.equal(ruleWords(RULE, nameOf), "a signature of the image, by release or security");
  assert.equal(
    ruleWords({ ...RULE, threshold: 2, maxAge: "604800s" }, nameOf),
    "2 × signature of the image, by different keys, by release or security, at most 7 days old",
  );
  assert.equal(
    ruleWords({ ...RULE, signers: ["g/a"], predicateType: "https://slsa.dev/provenance/v1" }, nameOf),
    "an attestation (How it was built: SLSA provenance), by release",
  );
});

test("a policy says what it is for, and which images it is about", () => {
  assert.equal(actionWords(POLICY), "pulls, copies by mirrors");
  assert.equal(scopeWords(POLICY), "images matching acme/.*");
  assert.equal(scopeWords({ ...POLICY, repoPattern: "", tagPattern: "v.*" }), "all images, tags matching v.*");
});
