import assert from "node:assert/strict";
import { test } from "node:test";
import type { Signature, SignatureVerdict } from "../../../api/gen/registry.ts";
import { mainVerdict, outcomeWord, purposeWords, stateWord, trustedBy } from "./signature-words.ts";

const verdict = (fields: Partial<SignatureVerdict>): SignatureVerdict => ({
  signer: "g/s",
  signerName: "release",
  state: "SIGNATURE_STATE_TRUSTED",
  code: "SIGNATURE_CODE_UNSPECIFIED",
  reason: "",
  fingerprint: "",
  ...fields,
});
const signature = (verdicts: SignatureVerdict[], fields: Partial<Signature> = {}): Signature => ({
  manifest: "",
  source: "",
  format: "SIGNATURE_FORMAT_BUNDLE",
  predicateType: "",
  attachedBy: "",
  identity: "",
  timeSource: "SIGNATURE_TIME_UNSPECIFIED",
  verdicts,
  state: "SIGNATURE_STATE_TRUSTED",
  code: "SIGNATURE_CODE_UNSPECIFIED",
  reason: "",
  number: 0,
  ...fields,
});

test("a signature is by those alone for whom it holds", () => {
  const other = verdict({ signerName: "other", state: "SIGNATURE_STATE_UNTRUSTED" });
  assert.deepEqual(trustedBy(signature([verdict({}), other, verdict({ signerName: "" })])), [
    "release",
    "a deleted signer",
  ]);
  assert.deepEqual(trustedBy(signature([other])), []);
});

test("the verdict of the state is found by state and code", () => {
  const ended = verdict({ state: "SIGNATURE_STATE_EXPIRED", code: "SIGNATURE_CODE_EXPIRED" });
  const state = { state: "SIGNATURE_STATE_EXPIRED", code: "SIGNATURE_CODE_EXPIRED" } as const;
  assert.equal(mainVerdict(signature([verdict({ state: "SIGNATURE_STATE_UNTRUSTED" }), ended], state)), ended);
});

test("an attestation says what it states, and never that the image is signed", () => {
  assert.equal(purposeWords(""), "The image itself");
  assert.match(purposeWords("https://slsa.dev/provenance/v1"), /built/);
  assert.equal(purposeWords("https://example.com/own"), "https://example.com/own");
});

test("states and outcomes that the console does not know are not known", () => {
  assert.deepEqual(stateWord("SIGNATURE_STATE_UNSPECIFIED"), ["Not known", "outline"]);
  assert.equal(outcomeWord("SIGNATURE_OUTCOME_UNKNOWN")[0], "Not known");
});
