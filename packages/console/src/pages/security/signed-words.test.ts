import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListImageSignaturesResponse, SignatureState } from "../../api/gen/registry.ts";
import { signedWords } from "./signed-words.ts";

const said = (states: string[], fields: Partial<ListImageSignaturesResponse> = {}, predicateType = ""): string => {
  const signatures = states.map((state) => ({ predicateType, state: `SIGNATURE_STATE_${state}` as SignatureState }));
  const answer = { pending: false, leftOut: 0, signatures, ...fields } as unknown as ListImageSignaturesResponse;
  return signedWords(answer, "this version").word;
};

test("signed, not by a signer, unsigned, not checked and not known are different answers", () => {
  assert.equal(said(["UNTRUSTED", "TRUSTED"]), "Signed");
  assert.equal(said(["UNTRUSTED"]), "Not signed by a signer");
  assert.equal(said(["EXPIRED"]), "Not signed by a signer");
  assert.equal(said([]), "Unsigned");
  assert.equal(said(["WAITING"]), "Signature not checked yet");
  assert.equal(said([], { pending: true }), "Signature not checked yet");
  assert.equal(said(["TRUSTED"], { pending: true }), "Signed", "one that holds is enough");
  assert.equal(said([], { leftOut: 3 }), "Signature not known");
  assert.equal(said(["TRUSTED"], {}, "https://slsa.dev/provenance/v1"), "Unsigned", "provenance is of its build");
});
