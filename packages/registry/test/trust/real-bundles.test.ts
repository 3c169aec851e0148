// Bundles of packages of npm, made by the public instance of Sigstore: the data of the tests of sigstore-go.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SignatureCode, SignatureCodeSchema, SignatureState, SignatureTime } from "@moorage/api/messages";
import type { SpecIdentity } from "../../src/trust/verify/types.ts";
import { verifySigned } from "../../src/trust/verify/verify.ts";

/** The folder of that module; `.ci/cosign.sh` brings it. */
const FOLDER = process.env["MOORAGE_TEST_SIGSTORE_GO"] ?? "";
const skip = FOLDER === "" ? "run .ci/cosign.sh, which brings the data" : false;
const BUNDLES = "pkg/testing/data/bundles";
const ROOT = "pkg/testing/data/trusted-roots/public-good.json";

const ISSUER = "https://token.actions.githubusercontent.com";
const WORKFLOW = "https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main";
const JOB: SpecIdentity = { trustRoot: "", issuer: ISSUER, subject: WORKFLOW, subjectPattern: "", extensions: {} };

const PROVENANCE = `${BUNDLES}/sigstore.js@2.0.0-provenance.sigstore.json`;

interface Statement {
  subject: { digest: Record<string, string> }[];
}
interface Bundle {
  mediaType: string;
  dsseEnvelope?: { payload: string };
}

/** What a bundle is worth about what its statement is about, or about something else. */
async function worth(file: string, keyless = JOB, about?: string): Promise<string> {
  const content = readFileSync(join(FOLDER, file));
  const { mediaType, dsseEnvelope } = JSON.parse(content.toString("utf8")) as Bundle;
  const nowMs = Date.now();
  const [entry] = await verifySigned(
    {
      subject: about ?? subjectOf(dsseEnvelope),
      subjectContent: undefined,
      layers: [{ n: 0, mediaType, annotations: {}, content }],
      signers: [{ uid: "g/s", version: "1", keys: [], keyless, requireLog: false, times: [] }],
      heldMs: nowMs,
      nowMs,
    },
    () => ({ json: readFileSync(join(FOLDER, ROOT), "utf8") }),
  );
  assert.ok(entry);
  const { state, code } = entry.matches[0]?.segments[0] ?? { state: SignatureState.UNSPECIFIED, code: entry.code };
  if (state === SignatureState.TRUSTED) {
    assert.equal(entry.identity, `${WORKFLOW} (${ISSUER})`);
    assert.equal(entry.timeSource, SignatureTime.LOG);
    return "trusted";
  }
  return code === SignatureCode.UNSPECIFIED ? "another signer's" : nameOf(code);
}

function subjectOf(envelope: Bundle["dsseEnvelope"]): string {
  const statement = JSON.parse(Buffer.from(envelope?.payload ?? "", "base64").toString("utf8")) as Statement;
  const [[algorithm, hex] = []] = Object.entries(statement.subject[0]?.digest ?? {});
  return `${algorithm}:${hex}`;
}

const nameOf = (code: SignatureCode): string =>
  SignatureCodeSchema.value[code]?.name.replace("SIGNATURE_CODE_", "") ?? String(code);

test("provenance of packages of npm is that of the workflow that has published them", { skip }, async () => {
  for (const file of [PROVENANCE, "examples/bundle-provenance.json"]) {
    assert.equal(await worth(file), "trusted");
    assert.equal(await worth(file, { ...JOB, subject: `${WORKFLOW}s` }), "another signer's");
    assert.equal(await worth(file, { ...JOB, issuer: `${ISSUER}/` }), "another signer's");
    assert.equal(await worth(file, JOB, `sha512:${"0".repeat(128)}`), "OTHER_IMAGE");
  }
});

test("a bundle that no workflow has signed counts for no signer, or is invalid", { skip }, async () => {
  // Of a person, from before certificates had their issuer as a string of DER.
  const person = { ...JOB, issuer: "https://github.com/login/oauth", subject: "brian@dehamer.com" };
  assert.equal(await worth(`${BUNDLES}/dsse.sigstore.json`, person), "another signer's");
  assert.equal(await worth(`${BUNDLES}/dsse-2sigs.sigstore.json`, person), "BAD_CERTIFICATE");
  // By a key that no signer has.
  assert.equal(await worth("examples/bundle-publish.json"), "another signer's");
});
