// What `moorage why` says of images that certificates sign is what their pulls are answered with.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ACME, fingerprintOf, newChain } from "../../server/test/support/notation-certificates.ts";
import { signByNotation } from "../../server/test/support/notation-repo.ts";
import { COSE } from "../../server/test/support/notation-signing.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

test("why says of a certificate what pulls are answered with: unsigned, signed, somebody else's, revoked", async (t) => {
  const { url, folder, ok, run, json, api, push } = await openStage(t);
  const [chain, stranger] = [newChain({ subject: [...ACME, ["CN", "release"]] }), newChain()];
  const file = (x509: object): string => {
    writeFileSync(join(folder, "signer.json"), JSON.stringify({ x509: { roots: [chain[2].pem], ...x509 } }));
    return "signer.json";
  };
  const identities = ["x509.subject: C=US, ST=WA, O=acme, CN=release"];
  await ok("signers", "create", "acme/notation", "-f", file({ identities }));
  const policy = "signature-policies create acme/signed --signer acme/notation --on pull --mode enforce";
  await ok(...policy.split(" "));
  await push("acme/app:1.0", 1);
  const organization = (await json<{ uid: string }>("groups", "get", "acme")).uid;
  const { uid: reader } = await api("POST", `/iam/v2/identities/${organization}`, { name: "reader" });
  await ok("bindings", "create", "acme", "--identity-uid", reader, "--role-uid", "viewer");
  const repo = (await json<{ uid: string }>("repos", "get", "acme/app")).uid;
  const place = { url, repo, name: "acme/app", token: (await ok("token", "--audience", "registry")).trim() };
  const digest = BUILD[1];
  const pull = async (): Promise<Response> => {
    const token = (await ok("token", "--audience", "registry", "--identity", reader)).trim();
    return await fetch(`${url}/v2/acme/app/manifests/1.0`, { headers: { authorization: `Bearer ${token}` } });
  };
  /** The sentence in which `why` and a pull agree; empty where both let the reader pull. */
  const agreed = async (): Promise<string> => {
    const [{ code, stdout }, answer] = [await run(["why", reader, "pull", "acme/app:1.0"]), await pull()];
    assert.equal(answer.status, code === 0 ? 200 : 403, stdout);
    if (code === 0) return "";
    assert.equal(code, 5, stdout);
    const [error] = ((await answer.json()) as { errors: { message: string }[] }).errors;
    const sentence = (error?.message ?? "").replace("Permission denied: ", "");
    assert.ok(sentence !== "" && stdout.replaceAll(/\s+/g, " ").includes(sentence), `${stdout}\n${sentence}`);
    return sentence;
  };
  const listed = async (): Promise<string> => await ok("images", "signatures", "acme/app:1.0", "--wait", "90s");

  assert.match(await agreed(), /rule image: 0 of 1 by notation/);
  await signByNotation(place, digest, stranger);
  assert.match(await listed(), /untrusted/);
  assert.match(await agreed(), /0 of 1 by notation/);
  await signByNotation(place, digest, chain, { mediaType: COSE });
  assert.match(await listed(), /^trusted +notation +image/m);
  assert.equal(await agreed(), "");
  await ok(
    "signers",
    "update",
    "acme/notation",
    "-f",
    file({ identities, revokedFingerprints: [fingerprintOf(chain[0])] }),
  );
  assert.match(await listed(), /^revoked/m);
  assert.match(await agreed(), /the certificate of CN=release,O=acme,ST=WA,C=US is revoked/);
});
